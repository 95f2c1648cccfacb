import { setTimeout as pause } from 'node:timers/promises';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** The number may belong to another process by now, which must never be hit. */
export function sendSignal(target: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, signal);
  } catch (error) {
    if (isAlive(target)) throw error;
  }
}

const lookIntervalMs = 10;

/** Whether it has ended by then. */
export async function hasEnded(target: ProcessIdentity, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(target)) {
    if (performance.now() >= deadline) return false;
    await pause(lookIntervalMs, undefined, signal === undefined ? {} : { signal });
  }
  return true;
}

/** Who was told to hurry ends what is under way. */
const lastWordMs = 5_000;
/** What SIGKILL takes to be seen to have worked, on a machine that has other things to do. */
const killTimeoutMs = 5_000;

/** Asks the head of a process group to end, after the grace to end at once, and then kills the group. */
export async function endGroup(head: ProcessIdentity, graceMs: number): Promise<void> {
  for (const waitMs of [graceMs, lastWordMs]) {
    sendSignal(head, 'SIGTERM');
    if (await hasEnded(head, waitMs)) return;
  }
  killGroup(head);
  await hasEnded(head, killTimeoutMs);
}

/** At once, and what is left of it where its head has only just ended. */
export function killGroup({ pid }: ProcessIdentity): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
