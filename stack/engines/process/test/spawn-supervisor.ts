import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProcessTrial } from './trial.ts';

/** The supervisor of a trial, as a program. */
export const supervisorProgram = fileURLToPath(new URL('./supervisor.ts', import.meta.url));

/** Starts the supervisor of a trial in a process that a test can kill. The end of the trial ends it. */
export function spawnSupervisor({ installation }: ProcessTrial): ChildProcess {
  return spawn(process.execPath, [supervisorProgram, '--dir', installation.dir], { stdio: 'ignore' });
}
