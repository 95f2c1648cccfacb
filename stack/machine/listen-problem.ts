import { createServer } from 'node:net';

/**
 * Why this machine cannot listen on an address, as the system's error, or null: tried, because only the kernel knows
 * its addresses.
 */
export function listenProblem(host: string, port = 0): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}
