import type { Installation } from '../installation.ts';
import { lockHolder } from './lock.ts';
import { type PlatformRecord, readRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** The process that holds the platform of an installation. */
export interface RunningPlatform extends ProcessIdentity {
  /** What it runs. Null where it has not written that yet, and where state/ was lost since. */
  readonly record: PlatformRecord | null;
}

/**
 * The platform that runs in this installation, starting ones included, or null. Its record says all of it; where that is gone, its
 * lock still says who it is.
 */
export function findRunning(installation: Installation): RunningPlatform | null {
  const record = readRecord(installation);
  if (record !== null && isAlive(record)) return { pid: record.pid, startTime: record.startTime, record };
  const holder = lockHolder(installation, 'platform');
  return holder === null ? null : { ...holder, record: null };
}
