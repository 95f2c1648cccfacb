import { describeEnd } from '../../lifecycle/unwanted-end.ts';
import { hasEnded, sendSignal } from '../../state/end-process.ts';
import type { Installation } from '../../state/installation.ts';
import { endLeftProcesses, leftProcesses } from '../../state/left-processes.ts';
import { readRecord, removeRecord } from '../../state/platform-record.ts';
import { isAlive, type ProcessIdentity } from '../../state/process-identity.ts';
import { findUnwantedEnd } from './find-unwanted-end.ts';

/** Removes the record of a platform that ended without a stop. Returns what to tell the operator, or null. */
export async function clearStaleRecord(installation: Installation): Promise<string | null> {
  const record = readRecord(installation);
  if (record === null || isAlive(record)) return null;
  const end = await findUnwantedEnd(installation);
  removeRecord(installation);
  return end === null ? null : `${describeEnd(end)} Its record was removed.`;
}

export interface StopOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onNotice: (message: string) => void;
}

/** Longer than the platform's own deadline. */
const stopTimeoutMs = { embedded: 15_000, distributed: 60_000 } as const;
const killTimeoutMs = 5_000;

/** Stops the platform and waits for its end. Kills one that does not answer, and ends the parts that it left. */
export async function stopRunning(
  installation: Installation,
  platform: ProcessIdentity,
  { signal, onNotice }: StopOptions,
): Promise<void> {
  const timeoutMs = stopTimeoutMs[readRecord(installation)?.topology ?? 'distributed'];
  sendSignal(platform, 'SIGTERM');
  if (!(await hasEnded(platform, timeoutMs, signal))) {
    onNotice(
      `The platform (pid ${platform.pid}) did not stop within ${timeoutMs / 1000} s and was killed; its state is safe.`,
    );
    sendSignal(platform, 'SIGKILL');
    await hasEnded(platform, killTimeoutMs, signal);
  }
  const left = readRecord(installation);
  if (left === null || left.pid !== platform.pid || isAlive(left)) return;
  const ended = await endLeftProcesses(leftProcesses(left));
  if (ended.length > 0) onNotice(`Parts of the platform still ran and were ended: ${ended.join(', ')}.`);
  removeRecord(installation);
}
