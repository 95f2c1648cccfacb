import { createServer } from 'node:net';
import { becomesTrue } from './becomes-true.ts';

/** Whether the platform could listen there within `patienceMs`: tried, because only the kernel knows. */
export async function isFree(host: string, port: number, patienceMs = 0): Promise<boolean> {
  return await becomesTrue(async () => !(await isTaken(host, port)), { timeoutMs: patienceMs, pauseMs: 10 });
}

/** Without permission or without the address no other port would help, and the service that listens reports the error. */
const otherProblems: ReadonlySet<unknown> = new Set(['EACCES', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

async function isTaken(host: string, port: number): Promise<boolean> {
  for (const address of addressesBehind(host)) {
    const problem = await listenProblem(address, port);
    if (problem?.code === 'EADDRINUSE') return true;
    if (problem !== null && !otherProblems.has(problem.code)) throw problem;
  }
  return false;
}

/**
 * "localhost" may also mean ::1: another program there would be reached under our address. macOS allows listening on
 * 127.0.0.1 beside a program that listens on all addresses, so the wildcards are tried too.
 */
function addressesBehind(host: string): readonly string[] {
  const wildcards = process.platform === 'darwin' ? ['0.0.0.0', '::'] : [];
  return new Set(['127.0.0.1', '0.0.0.0', 'localhost']).has(host) ? [host, '::1', ...wildcards] : [host];
}

/** Why this machine cannot listen on an address, or null. */
export function listenProblem(host: string, port = 0): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true, ipv6Only: true }, () => server.close(() => resolve(null)));
  });
}
