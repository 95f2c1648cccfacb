import type { LogLevel } from '../../services/contracts/env/variable.ts';
import type { ForeignLine } from './foreign-line.ts';

/** `I1122 18:00:00.123456    4711 run.go:591] gRPC server started.`, in UTC and without a year. */
const shape = /^([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+) +\d+ (\S+?):\d+\] ?(.*)$/;

const levels: Readonly<Record<string, LogLevel>> = { I: 'info', W: 'warn' };

/** Lines without a head that are not errors: Dgraph's banner at the start, and its storage report at the stop. */
const banner =
  /^(Dgraph (version|codename|SHA-256)|Commit (SHA-1|timestamp)|Branch|Go version|jemalloc enabled|GOMAXPROCS|Num CPUs) *:|^For (Dgraph official|discussions about)|^Licensed under|^© |^Level (\d|Done)/;

/** Lines at level error in each healthy start and stop. */
const usual =
  /^(--my flag is provided without bindall|Error during SubscribeForUpdates|While proposing CID: Not Zero leader|namespace: \d+\. Error reading GraphQL schema: Please retry|GRPC listener canceled|error from cmux serve|Stopped taking more http)/;

/** A line that Dgraph wrote, or null. `now` gives the year. */
export function parseDgraphLine(text: string, now = Date.now()): ForeignLine | null {
  const [, letter = '', month, day, clock, , message = ''] = shape.exec(text) ?? [];
  if (clock === undefined) return banner.test(text) ? { time: 0, level: 'info', message: text } : null;
  const level = usual.test(message) ? 'info' : (levels[letter] ?? 'error');
  return { time: timeOf(`${month}-${day}T${clock}Z`, now), level, message: shortened(message) };
}

/** It writes a whole schema, and all of its options, in one line. */
const lengthMax = 400;

function shortened(message: string): string {
  return message.length <= lengthMax ? message : `${message.slice(0, lengthMax)}…`;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Of this year or, when that is in the future, of the last. */
function timeOf(withoutYear: string, now: number): number {
  const year = new Date(now).getUTCFullYear();
  const time = Date.parse(`${year}-${withoutYear}`);
  return time > now + dayMs ? Date.parse(`${year - 1}-${withoutYear}`) : time;
}
