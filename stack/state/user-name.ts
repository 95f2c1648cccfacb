import { execFileSync } from 'node:child_process';

const askTimeoutMs = 2000;

/** As the machine's own directory of users has it; null for a number that has no name there. */
export function findUserName(uid: number): string | null {
  try {
    return execFileSync('id', ['-nu', String(uid)], {
      encoding: 'utf8',
      timeout: askTimeoutMs,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
