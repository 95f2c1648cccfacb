import { createServer } from 'node:net';

/** Why this machine can't listen on an address, as the system says it, or null where it can: tried, because only the kernel knows its addresses. */
export function listenProblem(host: string, port = 0): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}
