import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../foreign-servers.ts';

const endWithParent = join(repository, '.config/end-with-parent.cjs');

/** It ends with this process, however that ends. */
export function startNode(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, ['--require', endWithParent, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  child.unref();
  child.channel?.unref();
  return child;
}

/** Resident memory of one process, without its children. */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) * 1024;
}

/** Tries until it works, because a server that was just started may not listen yet. */
export async function eventually<Result>(
  what: string,
  attempt: () => Promise<Result>,
  withinMs = 60_000,
): Promise<Result> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline)
        throw new Error(`${what} did not happen within ${withinMs / 1000} s.`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
