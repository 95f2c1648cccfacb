import type { LogLevel } from '../../services/contracts/env/variable.ts';
import type { ForeignLine } from './foreign-line.ts';

/** `[4711] 2026/11/21 18:00:00.123456 [INF] Server is ready`, in UTC. */
const shape = /^\[\d+\] (\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) \[([A-Z]{3})\] (.*)$/;

const levels: Readonly<Record<string, LogLevel>> = { TRC: 'trace', DBG: 'debug', INF: 'info', WRN: 'warn' };

/** A line that nats-server wrote, or null. */
export function parseNatsLine(text: string): ForeignLine | null {
  const [, year, month, day, clock, level = '', message = ''] = shape.exec(text) ?? [];
  if (year === undefined) return null;
  return { time: Date.parse(`${year}-${month}-${day}T${clock}Z`), level: levels[level] ?? 'error', message };
}
