import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const repository = join(dirname(fileURLToPath(import.meta.url)), '../../..');
export const everything = join(repository, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const endWithParent = join(repository, '.config/end-with-parent.cjs');
const svcFile = join(repository, 'dist/svc.cjs');

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

/** Runs `svc` from dist/ with an installation of its own and returns what it printed as JSON. */
export async function svc(dir: string, ...args: readonly string[]): Promise<unknown> {
  const end = args.indexOf('--');
  const shared = ['--dir', dir, '--json', '--quiet'];
  const all = end === -1 ? [...args, ...shared] : [...args.slice(0, end), ...shared, ...args.slice(end)];
  const { stdout } = await promisify(execFile)(process.execPath, [svcFile, ...all], {
    env: { ...environment, SVC_DIR: '' },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { readonly code: number; readonly stdout: string }) => {
    // It tells that the platform is degraded.
    if (args[0] === 'status' && error.code === 1) return error;
    throw error;
  });
  return JSON.parse(stdout);
}

/** How long `svc` takes, the process's own start included. */
export async function timeOfSvc(dir: string | null, ...args: readonly string[]): Promise<number> {
  const start = performance.now();
  const where = dir === null ? [] : ['--dir', dir];
  await promisify(execFile)(process.execPath, [svcFile, ...args, ...where], { env: { ...environment, SVC_DIR: '' } });
  return performance.now() - start;
}

export async function timeOfBareNode(): Promise<number> {
  const start = performance.now();
  await promisify(execFile)(process.execPath, ['-e', '0'], { env: environment });
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
