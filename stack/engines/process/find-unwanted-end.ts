import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { UnwantedEnd } from '../../lifecycle/unwanted-end.ts';
import { describeLine, readLogs } from '../../logs/read-logs.ts';
import { findRunning } from '../../state/find-running.ts';
import type { Installation } from '../../state/installation.ts';
import { type Failure, type PlatformRecord, readFailure, readRecord } from '../../state/platform-record.ts';

/** How the last platform ended without a stop. Null where it runs, was stopped or never ran. Changes nothing. */
export async function findUnwantedEnd(installation: Installation): Promise<UnwantedEnd | null> {
  const running = findRunning(installation);
  if (running !== null && !running.isAbandoned) return null;
  const record = readRecord(installation);
  const failure = readFailure(installation);
  if (failure !== null && (record === null || record.pid === failure.pid)) return failed(installation, failure);
  return record === null ? null : killed(installation, record);
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

/** The newest modification of its record, its logs and its data. Unreadable files are ignored. */
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
      last = `${line.service} ${describeLine(line)}`;
    }
  } catch {
    // A start or stop must not fail because the old log is unreadable.
  }
  return last;
}

function toSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
