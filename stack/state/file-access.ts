import { execFileSync } from 'node:child_process';

export function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

const askTimeoutMs = 2000;

/** The name in the machine's directory of users; null for a number without one. Synchronous, because an error message needs it at once. */
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
