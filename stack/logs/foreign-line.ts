import type { LogLevel } from '../../services/contracts/env/variable.ts';

interface ForeignLine {
  /** 0 when the line has none. */
  readonly time: number;
  readonly level: LogLevel;
  readonly message: string;
}

/** A line of nats-server or Dgraph, or null. Caddy writes the same form as our services. `now` gives the year. */
export function parseForeignLine(text: string, now = Date.now()): ForeignLine | null {
  return parseNatsLine(text) ?? parseDgraphLine(text, now);
}

/** `[4711] 2026/11/21 18:00:00.123456 [INF] Server is ready`, in UTC. */
const natsShape = /^\[\d+\] (\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) \[([A-Z]{3})\] (.*)$/;
const natsLevels: Readonly<Record<string, LogLevel>> = { TRC: 'trace', DBG: 'debug', INF: 'info', WRN: 'warn' };

function parseNatsLine(text: string): ForeignLine | null {
  const [, year, month, day, clock, level = '', message = ''] = natsShape.exec(text) ?? [];
  if (year === undefined) return null;
  return { time: Date.parse(`${year}-${month}-${day}T${clock}Z`), level: natsLevels[level] ?? 'error', message };
}

/** `I1122 18:00:00.123456    4711 run.go:591] gRPC server started.`, in UTC and without a year. */
const dgraphShape = /^([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+) +\d+ (\S+?):\d+\] ?(.*)$/;
const dgraphLevels: Readonly<Record<string, LogLevel>> = { I: 'info', W: 'warn' };

/** Lines without a head that are not errors: Dgraph's banner at the start, and its storage report at the stop. */
const banner =
  /^(Dgraph (version|codename|SHA-256)|Commit (SHA-1|timestamp)|Branch|Go version|jemalloc enabled|GOMAXPROCS|Num CPUs) *:|^For (Dgraph official|discussions about)|^Licensed under|^© |^Level (\d|Done)/;

/** Lines at level error in each healthy start and stop. */
const usual =
  /^(--my flag is provided without bindall|Error during SubscribeForUpdates|While proposing CID: Not Zero leader|namespace: \d+\. Error reading GraphQL schema: Please retry|GRPC listener canceled|error from cmux serve|Stopped taking more http)/;

/** Dgraph writes a whole schema, and all of its options, in one line. */
const lengthMax = 400;

function parseDgraphLine(text: string, now: number): ForeignLine | null {
  const [, letter = '', month, day, clock, , message = ''] = dgraphShape.exec(text) ?? [];
  if (clock === undefined) return banner.test(text) ? { time: 0, level: 'info', message: text } : null;
  const level = usual.test(message) ? 'info' : (dgraphLevels[letter] ?? 'error');
  const shortened = message.length <= lengthMax ? message : `${message.slice(0, lengthMax)}…`;
  return { time: timeOf(`${month}-${day}T${clock}Z`, now), level, message: shortened };
}

const dayMs = 24 * 60 * 60 * 1000;

/** Of this year or, when that is in the future, of the last. */
function timeOf(withoutYear: string, now: number): number {
  const year = new Date(now).getUTCFullYear();
  const time = Date.parse(`${year}-${withoutYear}`);
  return time > now + dayMs ? Date.parse(`${year - 1}-${withoutYear}`) : time;
}
