import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type LogLevel, logLevels } from '../../services/contracts/env/variable.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Installation } from '../installation.ts';

/** One line of a service's log, as far as it could be understood. */
export interface LogLine {
  readonly service: string;
  readonly time: number;
  readonly level: LogLevel;
  readonly logger: string | null;
  readonly message: string;
  readonly request: string | null;
  /** The line as it was written. */
  readonly text: string;
  /** Everything else that the line holds. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LogFilter {
  /** Empty: every service. */
  readonly services: readonly string[];
  readonly since: number | null;
  readonly level: LogLevel;
  readonly request: string | null;
}

export interface LogOptions extends LogFilter {
  readonly installation: Installation;
  /** How many of the last lines come first. */
  readonly lines: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** A log is read backwards at most this far: a person asks for the last lines, and files are rotated long before. */
const tailMaxBytes = 16 * 1024 * 1024;
const followIntervalMs = 150;

/** The last lines of all services in the order of their time, then, with `follow`, what is written from now on. */
export async function* readLogs(options: LogOptions): AsyncGenerator<LogLine> {
  const names = await logNames(options.installation.logsDir);
  const unknown = options.services.find((service) => !names.includes(service));
  if (unknown !== undefined) {
    throw new SvcError('not_found', `There is no log of "${unknown}".`, {
      hint: names.length === 0 ? 'Nothing has run here yet: svc up' : `There are logs of ${names.join(', ')}.`,
    });
  }
  const tails = await Promise.all(
    names
      .filter((name) => options.services.length === 0 || options.services.includes(name))
      .map((name) => openTail(options, name)),
  );
  const first = (await Promise.all(tails.map((tail) => tail.before()))).flat().filter((line) => passes(line, options));
  if (options.lines > 0) yield* first.sort(byTime).slice(-options.lines);
  while (options.follow && !options.signal.aborted) {
    const fresh = (await Promise.all(tails.map((tail) => tail.next()))).flat().filter((line) => passes(line, options));
    yield* fresh.sort(byTime);
    await pause(followIntervalMs, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

async function logNames(dir: string): Promise<readonly string[]> {
  const files = await readdir(dir).catch(() => []);
  return files
    .filter((file) => file.endsWith('.log'))
    .map((file) => basename(file, '.log'))
    .sort();
}

interface Tail {
  /** What is there when reading starts, the rotated file before it included. */
  before(): Promise<readonly LogLine[]>;
  /** Whole lines written since. */
  next(): Promise<readonly LogLine[]>;
}

async function openTail({ installation }: LogOptions, service: string): Promise<Tail> {
  const file = join(installation.logsDir, `${service}.log`);
  let offset = 0;
  let inode = 0;
  let rest = '';
  const parse = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : [parseLine(service, line)]));
  return {
    async before() {
      const found = await stat(file).catch(() => null);
      if (found === null) return [];
      ({ ino: inode } = found);
      const older = await readFrom(`${file}.1`, 0);
      const start = Math.max(0, found.size - tailMaxBytes);
      const text = await readFrom(file, start);
      offset = start + Buffer.byteLength(text);
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      return [...parse(older), ...parse(text.slice(0, end))];
    },
    async next() {
      const found = await stat(file).catch(() => null);
      if (found === null) return [];
      let missed = '';
      if (found.ino !== inode || found.size < offset) {
        // Rotated: what was written to the old file since is in the one that took its place.
        missed = inode === 0 ? '' : await readFrom(`${file}.1`, offset);
        ({ ino: inode } = found);
        offset = 0;
      }
      const text = found.size > offset ? await readFrom(file, offset) : '';
      offset += Buffer.byteLength(text);
      const all = rest + missed + text;
      const end = all.lastIndexOf('\n') + 1;
      rest = all.slice(end);
      return parse(all.slice(0, end));
    },
  };
}

async function readFrom(file: string, start: number): Promise<string> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return '';
  try {
    const { size } = await handle.stat();
    const length = Math.min(Math.max(0, size - start), tailMaxBytes);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, start);
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await handle.close();
  }
}

/** pino's numbers. */
const levelNumbers: Readonly<Record<number, LogLevel>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'error',
};

/** A line that is no JSON (a crash of node itself) is shown as it is. */
export function parseLine(service: string, text: string): LogLine {
  const parsed = parseJson(text);
  if (parsed === null)
    return { service, time: 0, level: 'error', logger: null, message: text, request: null, text, fields: {} };
  const { time, level, name, msg, request, ...fields } = parsed;
  const atTime = typeof time === 'number' ? time : Date.parse(String(time));
  return {
    service,
    time: Number.isFinite(atTime) ? atTime : 0,
    level:
      typeof level === 'number'
        ? (levelNumbers[level] ?? 'info')
        : (logLevels.find((known) => known === level) ?? 'info'),
    logger: typeof name === 'string' ? name : null,
    message: typeof msg === 'string' ? msg : '',
    request: typeof request === 'string' ? request : null,
    text,
    fields,
  };
}

function parseJson(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function passes(line: LogLine, filter: LogFilter): boolean {
  if (filter.since !== null && line.time < filter.since) return false;
  if (filter.request !== null && line.request !== filter.request) return false;
  return logLevels.indexOf(line.level) >= logLevels.indexOf(filter.level);
}

function byTime(a: LogLine, b: LogLine): number {
  return a.time - b.time;
}
