import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError, toSvcError } from '../../../services/contracts/errors.ts';
import { inWordsAlone } from '../../../services/contracts/system-words.ts';
import type { UnwantedEnd } from '../../lifecycle/unwanted-end.ts';
import { describeLine, lastLines, parseLine } from '../../logs/read-logs.ts';
import { isLostPort, lostPort } from '../../ports/claim-ports.ts';
import { fileFailure } from '../../state/file-failure.ts';
import { findRunning } from '../../state/find-running.ts';
import { findFullDisk } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { lockHolder } from '../../state/lock.ts';
import { type Failure, readFailure, readRecord, recordFile, writeFailure } from '../../state/platform-record.ts';

/** The platform failed to start, at one part and one check. */
export class StartFailure extends Error {
  readonly part: string;
  readonly check: string;
  readonly error: SvcError;

  constructor(part: string, check: string, thrown: unknown) {
    const error = fileFailure(thrown) ?? toSvcError(thrown);
    super(`${part}: ${check}: ${error.message}`, { cause: thrown });
    this.part = part;
    this.check = check;
    this.error = error;
  }
}

export async function step<Result>(part: string, check: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof StartFailure ? thrown : new StartFailure(part, check, thrown);
  }
}

export function leaveFailure(installation: Installation, failure: StartFailure): void {
  try {
    writeFailure(installation, failureOf(failure));
  } catch {
    // The disk is probably full. The log has the failure too.
  }
}

export function failureOf({ part, check, error }: StartFailure): Failure {
  return {
    pid: process.pid,
    at: new Date().toISOString(),
    service: part,
    check,
    code: error.code,
    portTaken: isLostPort(error),
    message: bugText(error) ?? error.message,
    hint: error.hint ?? null,
  };
}

export function bugText(error: SvcError): string | undefined {
  return error.code === 'internal' && error.cause instanceof Error ? inWordsAlone(error.cause) : undefined;
}

/** Why the platform of a process ended. Log lines from before its start belong to another process. */
export async function explainFailure(
  installation: Installation,
  { pid, since }: { readonly pid: number; readonly since: number },
): Promise<SvcError> {
  const failure = readFailure(installation);
  return failure?.pid === pid ? explain(installation, failure, since) : explainSilence(installation, pid);
}

async function explainSilence(installation: Installation, pid: number): Promise<SvcError> {
  const holder = lockHolder(installation, 'platform');
  if (holder !== null && holder.pid !== pid) {
    return new SvcError('conflict', `Another platform (pid ${holder.pid}) started in this installation meanwhile.`, {
      hint: 'Show its state: svc status',
    });
  }
  // A full disk keeps the platform from recording why it ended.
  const full = findFullDisk(installation);
  if (full !== null) return full;
  const lines = await endOfLog(installation, 'platform', null);
  return new SvcError('internal', `The platform (pid ${pid}) ended without saying why.${lines}`, {
    hint: 'Read its log: svc logs platform',
  });
}

/** The failure that the platform recorded, with its log lines since then. */
export async function explain(installation: Installation, failure: Failure, since: number): Promise<SvcError> {
  const { service, check, code, portTaken, message, hint } = failure;
  const who = service === 'platform' ? 'The platform' : service;
  const lines = await endOfLog(installation, service, since, message);
  const text = `${who} failed to ${check}: ${message}${lines}`;
  const options = { hint: hint ?? `Read its log: svc logs ${service}` };
  return portTaken ? lostPort(text, options) : new SvcError(code, text, options);
}

const linesMax = 8;

/** Empty if `told` says all of it already. */
async function endOfLog(installation: Installation, service: string, since: number | null, told = ''): Promise<string> {
  const timed = await lastLines(installation, { services: [service], since, lines: linesMax });
  const lines = timed.length > 0 || since === null ? timed : await untimedEnd(installation, service, since);
  if (lines.every(({ message }) => told.includes(message))) return '';
  const text = lines.map((line) => `\n  ${describeLine(line)}`).join('');
  return text === '' ? '' : `\nLast lines of logs/${service}.log:${text}`;
}

/** Programs also write lines without a time. Those at the end of a log that changed since then belong to this start. */
async function untimedEnd(installation: Installation, service: string, since: number) {
  const changed = statSync(join(installation.logsDir, `${service}.log`), { throwIfNoEntry: false });
  if (changed === undefined || changed.mtimeMs < since) return [];
  const lines = await lastLines(installation, { services: [service], since: null, lines: linesMax });
  return lines.slice(lines.findLastIndex(({ text }) => parseLine(service, text).time > 0) + 1);
}

/** How the last platform ended without a stop. Null where it runs, was stopped or never ran. Changes nothing. */
export async function findUnwantedEnd(installation: Installation): Promise<UnwantedEnd | null> {
  const running = findRunning(installation);
  if (running !== null && !running.isAbandoned) return null;
  const record = readRecord(installation);
  const failure = readFailure(installation);
  const own = record === null || record.pid === failure?.pid ? failure : null;
  const platform = own ?? record;
  if (platform === null) return null;
  return {
    by: own === null ? 'outside' : 'failure',
    pid: platform.pid,
    at: new Date(own?.at ?? lastSignOfLife(installation)).toISOString().replace(/\.\d+Z$/, 'Z'),
    reason: own?.message ?? null,
    lastLogLine: await lastLogLine(installation),
  };
}

/** The newest modification of its record, its logs and its data. */
function lastSignOfLife(installation: Installation): number {
  const record = statSync(recordFile(installation), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Math.max(record, lastWriteIn(installation.logsDir), lastWriteIn(installation.dataDir));
}

/** An unreadable folder is ignored: a stop and a status must not fail because of it. */
function lastWriteIn(dir: string): number {
  try {
    const files = readdirSync(dir).map((name) => statSync(join(dir, name), { throwIfNoEntry: false }));
    return Math.max(...files.map((file) => file?.mtimeMs ?? 0));
  } catch {
    return 0;
  }
}

async function lastLogLine(installation: Installation): Promise<string | null> {
  const [last] = await lastLines(installation, { services: [], since: null, lines: 1 });
  return last === undefined ? null : `${last.service} ${describeLine(last)}`;
}
