import type { Installation } from '../installation.ts';
import { leftProcesses } from './left-processes.ts';
import { lockHolder } from './lock.ts';
import { type PlatformRecord, readRecord } from './platform-record.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** The process that holds the platform of an installation. */
export interface RunningPlatform extends ProcessIdentity {
  /** What it runs. Null where it has not written that yet, and where state/ was lost since. */
  readonly record: PlatformRecord | null;
  /** It was killed, and processes that it had started go on without it. */
  readonly isAbandoned: boolean;
}

/**
 * The platform that runs in this installation, starting ones and what is left of a killed one included, or null. Its record says all of it; where that is gone, its
 * lock still says who it is.
 */
export function findRunning(installation: Installation): RunningPlatform | null {
  const record = readRecord(installation);
  const known = record === null ? null : { pid: record.pid, startTime: record.startTime, record };
  if (known !== null && isAlive(known)) return { ...known, isAbandoned: false };
  const holder = lockHolder(installation, 'platform');
  if (holder !== null) return { ...holder, record: null, isAbandoned: false };
  return known !== null && leftProcesses(known.record).length > 0 ? { ...known, isAbandoned: true } : null;
}
