import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProcessTrial } from './trial.ts';

/** Starts the supervisor of a trial in a process that a test can kill. */
export function spawnSupervisor({ dir, installation }: ProcessTrial): ChildProcess {
  const program = fileURLToPath(new URL('./supervisor.ts', import.meta.url));
  return spawn(process.execPath, [program, dir, installation.dir], { stdio: ['pipe', 'ignore', 'ignore'] });
}
