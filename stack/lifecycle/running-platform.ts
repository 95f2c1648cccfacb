import { setTimeout as pause } from 'node:timers/promises';
import type { Installation } from '../installation.ts';
import { readRecord, removeRecord } from '../state/platform-record.ts';
import { isAlive, type ProcessIdentity } from '../state/process-identity.ts';
import { describeEnd, findUnwantedEnd } from './unwanted-end.ts';

/** Clears away what a platform left that nobody stopped; returns what to tell about it, or null where there is nothing. */
export async function clearStaleRecord(installation: Installation): Promise<string | null> {
  const record = readRecord(installation);
  if (record === null || isAlive(record)) return null;
  const end = await findUnwantedEnd(installation);
  removeRecord(installation);
  return end === null ? null : `${describeEnd(end)} What it left was cleared away.`;
}

export interface StopOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onNotice: (message: string) => void;
}

/** Longer than the platform's own deadline, after which it ends by itself. */
const stopTimeoutMs = 15_000;
const killTimeoutMs = 5_000;

/** Asks the platform to stop and waits until it has ended; one that doesn't answer is killed. */
export async function stopRunning(
  installation: Installation,
  platform: ProcessIdentity,
  { signal, onNotice }: StopOptions,
): Promise<void> {
  sendSignal(platform, 'SIGTERM');
  if (!(await hasEnded(platform, stopTimeoutMs, signal))) {
    onNotice(
      `The platform (pid ${platform.pid}) did not stop within ${stopTimeoutMs / 1000} s and was killed; its state is safe.`,
    );
    sendSignal(platform, 'SIGKILL');
    await hasEnded(platform, killTimeoutMs, signal);
  }
  const left = readRecord(installation);
  if (left !== null && left.pid === platform.pid && !isAlive(left)) removeRecord(installation);
}

/** The number may belong to another process by now, which must never be hit. */
function sendSignal(platform: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(platform)) return;
  try {
    process.kill(platform.pid, signal);
  } catch (error) {
    if (isAlive(platform)) throw error;
  }
}

const lookIntervalMs = 10;

async function hasEnded(
  platform: ProcessIdentity,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(platform)) {
    if (performance.now() >= deadline) return false;
    await pause(lookIntervalMs, undefined, signal === undefined ? {} : { signal });
  }
  return true;
}
