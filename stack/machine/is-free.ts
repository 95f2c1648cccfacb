import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Whether the platform could listen there, now or within `patienceMs`: tried on the address itself, because only the
 * kernel knows.
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
 * "localhost" may also mean ::1: another program there would be reached under our address. macOS allows listening on
 * 127.0.0.1 beside a program that listens on all addresses, so the wildcards are tried too.
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
      // Without permission or without the address no other port would help, and the service that listens reports the
      // error.
      else if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT')
        resolve(true);
      else reject(error);
    });
    server.listen({ host, port, exclusive: true, ipv6Only: true }, () => server.close(() => resolve(true)));
  });
}
