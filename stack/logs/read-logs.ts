import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type LogLevel, logLevels } from '../../services/contracts/env/variable.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { isCode } from '../machine/is-code.ts';
import { parseJson } from '../machine/parse-json.ts';
import type { Installation } from '../state/installation.ts';
import { parseForeignLine } from './foreign-line.ts';
import { LogTail } from './log-tail.ts';

export interface LogLine {
  readonly service: string;
  readonly time: number;
  readonly level: LogLevel;
  readonly logger: string | null;
  readonly message: string;
  readonly request: string | null;
  readonly text: string;
  /** All other fields of the line. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LogSource {
  readonly service: string;
  /** The existing lines, as far back as a person asks for. */
  before(): Promise<readonly string[]>;
  next(): Promise<readonly string[]>;
}

export interface LogOptions {
  readonly installation: Installation;
  /** Empty: every service. */
  readonly services: readonly string[];
  readonly since: number | null;
  readonly level: LogLevel;
  readonly request: string | null;
  /** Only lines that this MCP server wrote, by its name. */
  readonly mcpServer?: string | null;
  /** Logs outside of the folder of logs. */
  readonly more?: readonly LogSource[];
  readonly lines: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

const followIntervalMs = 150;

/** The last lines of all services in the order of their time, then, with `follow`, new lines. */
export async function* readLogs(options: LogOptions): AsyncGenerator<LogLine> {
  const sources = await sourcesOf(options);
  const names = [...new Set(sources.map(({ service }) => service))].sort();
  const unknown = options.services.find((service) => !names.includes(service));
  if (unknown !== undefined) {
    throw new SvcError('not_found', `There is no log of "${unknown}".`, {
      hint:
        names.length === 0
          ? 'Nothing has run here yet. Start the platform: svc up'
          : `There are logs of ${names.join(', ')}. What an MCP server wrote: svc logs --server NAME`,
    });
  }
  const logs = sources
    .filter(({ service }) => options.services.length === 0 || options.services.includes(service))
    .map((source) => ({ source, parse: parser(source.service) }));
  const read = async (what: 'before' | 'next') => {
    const lines = await Promise.all(logs.map(async ({ source, parse }) => (await source[what]()).map(parse)));
    return lines
      .flat()
      .filter((line) => passes(line, options))
      .sort(byTime);
  };
  const before = await read('before');
  yield* before.slice(Math.max(0, before.length - options.lines));
  while (options.follow && !options.signal.aborted) {
    yield* await read('next');
    await pause(followIntervalMs, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

/** The files, and the logs that the engine keeps. The file of a part with an engine's log has only older lines. */
async function sourcesOf({ installation, more = [] }: LogOptions): Promise<readonly LogSource[]> {
  const { logsDir } = installation;
  const names = await logNames(logsDir);
  const live = new Set(more.map(({ service }) => service));
  const files = names.map((service) => {
    const tail = new LogTail(join(logsDir, `${service}.log`));
    return { service, before: () => tail.before(), next: async () => (live.has(service) ? [] : tail.next()) };
  });
  return [...files, ...more];
}

/** The last lines of these logs, for a message. Unreadable and missing logs have none. */
export async function lastLines(
  installation: Installation,
  { services, since, lines }: Pick<LogOptions, 'services' | 'since' | 'lines'>,
): Promise<readonly LogLine[]> {
  const which = { services, since, level: 'trace', request: null, lines, follow: false } as const;
  const { signal } = new AbortController();
  const found: LogLine[] = [];
  try {
    for await (const line of readLogs({ installation, ...which, signal })) found.push(line);
  } catch {
    // A part that failed early has no log, and a start must not fail because an old log is unreadable.
  }
  return found;
}

async function logNames(dir: string): Promise<readonly string[]> {
  const files = await readdir(dir).catch((error: unknown) => {
    // No log was ever written; a missing permission is an error.
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  });
  return files
    .filter((file) => file.endsWith('.log'))
    .map((file) => basename(file, '.log'))
    .sort();
}

/** Parses lines of one log; a line without a time gets that of the line before. */
function parser(service: string): (text: string) => LogLine {
  let time = 0;
  return (text) => {
    const line = parseLine(service, text);
    if (line.time > 0) ({ time } = line);
    return line.time > 0 ? line : { ...line, time };
  };
}

/** A line of an unknown form (a crash of node itself) is shown unchanged. */
export function parseLine(service: string, text: string): LogLine {
  const parsed = parseJson(text);
  if (!isObject(parsed)) {
    const { time, level, message } = parseForeignLine(text) ?? { time: 0, level: 'error', message: text };
    return { service, time, level, logger: null, message, request: null, text, fields: {} };
  }
  const { time, level, name, msg, request, ...fields } = parsed;
  const atTime = typeof time === 'number' ? time : Date.parse(String(time));
  return {
    service,
    time: Number.isFinite(atTime) ? atTime : 0,
    level: logLevels.find((known) => known === level) ?? 'info',
    logger: typeof name === 'string' ? name : null,
    message: typeof msg === 'string' ? msg : '',
    request: typeof request === 'string' ? request : null,
    text,
    fields,
  };
}

/** The MCP server that wrote the line. */
export function writerOf({ logger }: LogLine): string | null {
  return logger?.startsWith(ofMcpServer) ? logger.slice(ofMcpServer.length) : null;
}

const ofMcpServer = 'mcp-server.';

/** The line's reason, besides its message. */
export function reasonIn({ fields: { err, reason } }: LogLine): string | null {
  const why = isObject(err) && 'message' in err ? err.message : reason;
  return typeof why === 'string' ? why : null;
}

function passes(line: LogLine, { since, request, level, mcpServer = null }: LogOptions): boolean {
  if (mcpServer !== null && writerOf(line) !== mcpServer) return false;
  if (since !== null && line.time < since) return false;
  if (request !== null && line.request !== request) return false;
  return logLevels.indexOf(line.level) >= logLevels.indexOf(level);
}

function byTime(a: LogLine, b: LogLine): number {
  return a.time - b.time;
}

export function describeLine(line: LogLine): string {
  const { level, logger, message } = line;
  const why = reasonIn(line);
  return [level, logger, message, why === null ? null : `(${why})`].filter((part) => part !== null).join(' ');
}
