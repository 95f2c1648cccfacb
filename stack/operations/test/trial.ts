import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stopping } from '../../engines/engine.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import type { ListenerName } from '../../settings/choices.ts';
import type { Installation } from '../../state/installation.ts';
import { freePorts } from '../../test/free-ports.ts';
import { createInstallation } from '../create-installation.ts';
import { down } from '../down.ts';
import { status } from '../status.ts';
import { type UpOptions, up } from '../up.ts';

// Every trial starts the same program: it is compiled once for all of them.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'svc-test-compile-cache');

/** A new installation in a folder of its own, with ports that are free. `dispose` stops what runs in it and removes it. */
export async function openTrial(ports?: Partial<Record<ListenerName, number>>, within = tmpdir()) {
  const dir = realpathSync(mkdtempSync(join(within, 'svc-lifecycle-')));
  const free = await freePorts(4);
  const [backend = 0, remoteMcp = 0, runtime = 0, frontend = 0] = free;
  const { installation } = await createInstallation({
    dir,
    ports: ports ?? { backend, 'remote-mcp': remoteMcp, runtime, frontend },
  });
  return {
    installation,
    ports: free,
    up: (options: Partial<UpOptions> = {}) => up({ env: process.env, installation, ...options }),
    down: (options: Partial<Stopping> = {}) => down({ installation, ...options }),
    status: () => status({ installation }),
    async [Symbol.asyncDispose]() {
      for (const pid of platformsOf(installation)) process.kill(pid, 'SIGCONT');
      await down({ installation });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export type Trial = Awaited<ReturnType<typeof openTrial>>;

/** Numbers of the processes that hold a platform of this installation, found by their command line. */
export function platformsOf({ dir }: Installation): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const words = commandLine(pid);
      return words.some((word) => /process\/main\.[jt]s$/.test(word)) && words.includes(dir);
    })
    .map(Number);
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** A process that does what such a command does. It ends with its exit code, or with the signal that ended it. */
export function startCommand(verb: 'up' | 'foreground' | 'down', { dir }: Installation) {
  const program = fileURLToPath(new URL('./command.ts', import.meta.url));
  const child = spawn(process.execPath, [program, verb, dir], { stdio: 'ignore' });
  return {
    child,
    ended: new Promise<number | string>((resolve) =>
      child.once('exit', (code, signal) => resolve(code ?? signal ?? '')),
    ),
  };
}

/** Remembers what was told. */
export function listen() {
  const told: Progress[] = [];
  return {
    onProgress: (progress: Progress) => void told.push(progress),
    notices: () => told.flatMap((progress) => (progress.kind === 'notice' ? [progress.message] : [])),
    changes: () => told.flatMap((progress) => (progress.kind === 'plan' ? progress.changes : [])),
    states: () =>
      told.flatMap((progress) => (progress.kind === 'service' ? [`${progress.name} ${progress.state}`] : [])),
  };
}
