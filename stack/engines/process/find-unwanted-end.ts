import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { UnwantedEnd } from '../../lifecycle/unwanted-end.ts';
import { describeLine, lastLines } from '../../logs/read-logs.ts';
import { findRunning } from '../../state/find-running.ts';
import type { Installation } from '../../state/installation.ts';
import { type Failure, type PlatformRecord, readFailure, readRecord, recordFile } from '../../state/platform-record.ts';

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

/** The newest modification of its record, its logs and its data. */
function lastSignOfLife(installation: Installation): number {
  const { logsDir, dataDir } = installation;
  const files = [recordFile(installation), ...filesIn(logsDir), ...filesIn(dataDir)];
  return Math.max(...files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

/** A status must not fail because a folder is gone. */
function filesIn(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir).map((name) => join(dir, name)) : [];
}

async function lastLogLine(installation: Installation): Promise<string | null> {
  const [last] = await lastLines(installation, { services: [], since: null, lines: 1 });
  return last === undefined ? null : `${last.service} ${describeLine(last)}`;
}

function toSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
