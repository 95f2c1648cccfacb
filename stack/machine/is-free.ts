import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Whether the platform could listen there, or could within `patienceMs`: tried on the very address, because only the kernel
 * knows.
 */
export async function isFree(host: string, port: number, patienceMs = 0): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (!(await canListenOnAll(host, port))) {
    if (performance.now() >= deadline) return false;
    await pause(lookIntervalMs);
  }
  return true;
}

const lookIntervalMs = 10;

async function canListenOnAll(host: string, port: number): Promise<boolean> {
  for (const address of addressesBehind(host)) {
    if (!(await canListen(address, port))) return false;
  }
  return true;
}

/**
 * "localhost" may lead to ::1 as well: a stranger who listens there would be reached under our address. macOS lets one listen on
 * 127.0.0.1 beside a stranger who listens everywhere, so there the wildcards are tried too.
 */
function addressesBehind(host: string): readonly string[] {
  const wildcards = process.platform === 'darwin' ? ['0.0.0.0', '::'] : [];
  return new Set(['127.0.0.1', '0.0.0.0', 'localhost']).has(host) ? [host, '::1', ...wildcards] : [host];
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      // Not allowed, or no such address: no other port would help, and the service that listens will say so.
      else if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT')
        resolve(true);
      else reject(error);
    });
    server.listen({ host, port, exclusive: true, ipv6Only: true }, () => server.close(() => resolve(true)));
  });
}
