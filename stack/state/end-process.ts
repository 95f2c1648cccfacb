import { becomesTrue } from '../machine/becomes-true.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** The pid may belong to another process by now, which must never get the signal. */
export function sendSignal(target: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, signal);
  } catch (error) {
    if (isAlive(target)) throw error;
  }
}

export async function hasEnded(target: ProcessIdentity, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  return await becomesTrue(() => !isAlive(target), { timeoutMs, pauseMs: 10, signal });
}

/** After a second signal a process ends its running work. */
const lastWordMs = 5_000;
/** How long SIGKILL may take to show its effect on a busy machine. */
const killTimeoutMs = 5_000;

/** Asks the head of a process group to end, after the grace period to end at once, and then kills the group. */
export async function endGroup(head: ProcessIdentity, graceMs: number): Promise<void> {
  for (const waitMs of [graceMs, lastWordMs]) {
    sendSignal(head, 'SIGTERM');
    if (await hasEnded(head, waitMs)) return;
  }
  killGroup(head);
  await hasEnded(head, killTimeoutMs);
}

/** Kills at once, also the rest of a group whose head has just ended. */
export function killGroup({ pid }: ProcessIdentity): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of it is left.
  }
}
