import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '../installation.ts';
import { readLogs } from '../logs/read-logs.ts';
import { findRunning } from '../state/find-running.ts';
import { type Failure, type PlatformRecord, readFailure, readRecord } from '../state/platform-record.ts';
import { describe } from './explain-failure.ts';

/** How a platform ended that nobody stopped. */
export interface UnwantedEnd {
  /** `outside`: killed, by whom or what it could not see; `failure`: by itself, and it said why. */
  readonly by: 'outside' | 'failure';
  readonly pid: number;
  /** ISO 8601. Of a kill nobody notes the time: when it was last seen to have done something. */
  readonly at: string;
  /** What it said, where it did. */
  readonly reason: string | null;
  readonly lastLogLine: string | null;
}

/** Null where a platform runs as it should, where the last one was stopped, and where none ever ran. Changes nothing. */
export async function findUnwantedEnd(installation: Installation): Promise<UnwantedEnd | null> {
  const running = findRunning(installation);
  if (running !== null && !running.isAbandoned) return null;
  const record = readRecord(installation);
  const failure = readFailure(installation);
  if (failure !== null && (record === null || record.pid === failure.pid)) return failed(installation, failure);
  return record === null ? null : killed(installation, record);
}

/** In words for a person, on one line. */
export function describeEnd({ by, pid, at, reason, lastLogLine }: UnwantedEnd): string {
  const how =
    by === 'outside'
      ? `was ended from outside (not by svc down), at about ${at}`
      : `ended by itself, at ${at}: ${reason?.split('\n', 1)[0]?.replace(/[.\s]+$/, '')}`;
  return `The platform before (pid ${pid}) ${how}${lastLogLine === null ? '.' : `; its last log line: ${lastLogLine}.`}`;
}

async function failed(installation: Installation, { pid, at, message }: Failure): Promise<UnwantedEnd> {
  return {
    by: 'failure',
    pid,
    at: toSeconds(Date.parse(at)),
    reason: message,
    lastLogLine: await lastLogLine(installation),
  };
}

async function killed(installation: Installation, { pid }: PlatformRecord): Promise<UnwantedEnd> {
  const at = toSeconds(lastSignOfLife(installation));
  return { by: 'outside', pid, at, reason: null, lastLogLine: await lastLogLine(installation) };
}

/** The last time that it wrote anything: its record, a log, data. What can't be read says nothing. */
function lastSignOfLife({ stateDir, logsDir, dataDir }: Installation): number {
  const files = [join(stateDir, 'process.json'), ...filesIn(logsDir), ...filesIn(dataDir)];
  return Math.max(...files.map(writtenAt));
}

function filesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir).map((name) => join(dir, name));
  } catch {
    return [];
  }
}

function writtenAt(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

async function lastLogLine(installation: Installation): Promise<string | null> {
  const filter = { services: [], since: null, level: 'trace', request: null } as const;
  const { signal } = new AbortController();
  let last: string | null = null;
  try {
    for await (const line of readLogs({ installation, ...filter, lines: 1, follow: false, signal })) {
      last = `${line.service} ${describe(line)}`;
    }
  } catch {
    // Whoever starts or stops a platform must not fail over what it would have said of the one before.
  }
  return last;
}

function toSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
