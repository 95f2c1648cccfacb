import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { svcFile } from '../../../cli/test/run-svc.ts';
import { repository } from '../foreign-servers.ts';

const endWithParent = join(repository, '.config/end-with-parent.cjs');

/** Both sides run on the Node this runs on, and so do all that they start. */
export const environment: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
};

/** It ends with this process, however that ends. */
export function startNode(args: readonly string[], extra: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, ['--require', endWithParent, ...args], {
    env: { ...environment, ...extra },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  child.unref();
  child.channel?.unref();
  return child;
}

/** How long a command of Node takes, the start of its process included. */
export async function timeOfNode(...args: readonly string[]): Promise<number> {
  return await timeOf(() => promisify(execFile)(process.execPath, args, { env: { ...environment, SVC_DIR: '' } }));
}

export function timeOfSvc(...args: readonly string[]): Promise<number> {
  return timeOfNode(svcFile, ...args);
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
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
