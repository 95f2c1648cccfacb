import type { Server } from 'node:http';
import { SvcError } from '../../contracts/errors.ts';

export interface Address {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
}

/** Listens and returns the base URL, with the actual port. */
export function listen(server: Server, { host, port }: Address): Promise<string> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(whyNot(error, host, port));
    server.once('error', refused);
    server.listen({ host, port }, () => {
      server.off('error', refused);
      resolve(urlOf(server, host));
    });
  });
}

/** A client keeps an idle connection open for as long as it likes. */
const closeIdleEveryMs = 20;

/** Stops taking connections, lets current requests finish, and after the deadline ends the rest. */
export async function stopListening(server: Server, deadlineMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs);
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
}

/** The server's URL on this machine: a wildcard address is not a destination. */
function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number): SvcError {
  const place = `port ${port} of ${host}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new SvcError('conflict', `Cannot listen on ${place}: another program uses it.`, {
        hint: 'Stop that program or choose another port.',
        cause: error,
      });
    case 'EACCES':
      return new SvcError('forbidden', `Cannot listen on ${place}: permission denied.`, {
        hint: 'Choose a port above 1023.',
        cause: error,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new SvcError('invalid_input', `Cannot listen on ${place}: this machine has no such address.`, {
        hint: 'Set BIND_HOST to an address of this machine.',
        cause: error,
      });
    default:
      return new SvcError('unavailable', `Cannot listen on ${place}.`, { cause: error });
  }
}
