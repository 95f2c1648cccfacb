import { createServer } from 'node:net';

/** Why this machine can't listen on an address, in the system's word, or null where it can: tried, because only the kernel knows its addresses. */
export function listenProblem(host: string, port = 0): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}
