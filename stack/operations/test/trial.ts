import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Stopping } from '../../engines/engine.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import type { ListenerName } from '../../settings/choices.ts';
import type { Installation } from '../../state/installation.ts';
import { freePorts } from '../../test/free-ports.ts';
import { runningProcesses } from '../../test/running-processes.ts';
import { createInstallation } from '../create-installation.ts';
import { down } from '../down.ts';
import type { WantedSide } from '../replace/side.ts';
import { status } from '../status.ts';
import { type UpOptions, up } from '../up.ts';

/** Creates an installation in its own folder, with free ports. `dispose` stops its processes and removes the folder. */
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

/** The pids of the processes that run a platform of this installation, found by their command lines. */
export function platformsOf({ dir }: Installation): number[] {
  return runningProcesses()
    .filter(({ command }) => /process\/main\.[jt]s$/m.test(command) && command.split('\n').includes(dir))
    .map(({ pid }) => pid);
}

type Verb = 'up' | 'foreground' | 'down' | 'move' | 'undo';

interface CommandOptions {
  readonly to?: WantedSide;
  /** The moment at which the command kills itself, as words that command.ts checks. */
  readonly moment?: readonly string[];
}

/** Starts a command in its own process. `ended` resolves to its exit code, or to the signal that ended it; `said` is its standard error. */
export function startCommand(verb: Verb, { dir }: Installation, { to = {}, moment = [] }: CommandOptions = {}) {
  const program = fileURLToPath(new URL('./command.ts', import.meta.url));
  const args = [program, verb, dir, JSON.stringify(to), ...moment];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  const said = text(child.stderr);
  const ended: Promise<number | string> = once(child, 'exit').then(([code, signal]) => code ?? signal);
  return { child, ended, said };
}

/** Runs a command that kills itself at this moment. */
export async function dieAt(
  installation: Installation,
  moment: readonly string[],
  { verb = 'move', to }: { readonly verb?: Verb; readonly to?: WantedSide },
): Promise<void> {
  const { ended, said } = startCommand(verb, installation, { moment, ...(to && { to }) });
  const end = await ended;
  expect([moment, end], end === 'SIGKILL' ? '' : await said).toEqual([moment, 'SIGKILL']);
}

/** Records the progress that a command reports. */
export function listen() {
  const told: Progress[] = [];
  return {
    told,
    onProgress: (progress: Progress) => void told.push(progress),
    notices: () => told.flatMap((progress) => (progress.kind === 'notice' ? [progress.message] : [])),
  };
}
