import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Reason } from '../../contracts/bus/messages.ts';

/** The result of `isolated-network-main.ts`. */
export interface IsolatedNetworkResult {
  /** The outcome of a member's URL to the machine's own public address. */
  readonly outcome: Reason | 'answered' | undefined;
  /** Clients that reached the service at that address. */
  readonly reached: readonly string[];
  /** How long an operator's name from /etc/hosts took while members' names were looked up. */
  readonly otherMs: number;
  /** How long members' names with a silent name server took, and their outcomes. */
  readonly lookupMs: number;
  readonly unanswered: readonly (Reason | 'answered')[];
}

/** unshare(1) makes networks and mounts that only the test sees, if the system allows it. */
export const canIsolateNetwork = spawnSync('unshare', ['-rnm', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

/** In a network whose loopback interface has that address too, and whose name server is at 127.0.0.1. */
export async function runInIsolatedNetwork(address: string): Promise<IsolatedNetworkResult> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-isolated-'));
  try {
    const resolvers = join(folder, 'resolv.conf');
    writeFileSync(resolvers, 'nameserver 127.0.0.1\n');
    const script =
      'ip link set lo up && ip address add "$1/32" dev lo && mount --bind "$2" /etc/resolv.conf && exec "$3" "$4" "$1"';
    const main = fileURLToPath(new URL('./isolated-network-main.ts', import.meta.url));
    const words = ['-rnm', 'sh', '-c', script, 'sh', address, resolvers, process.execPath, main];
    const { stdout } = await promisify(execFile)('unshare', words, { timeout: 60_000, killSignal: 'SIGKILL' });
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
