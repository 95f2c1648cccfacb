import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type LogLine, parseLine, reasonIn } from '../../logs/read-logs.ts';

/** Enough for a message with its hint. The log has the rest. */
const readMaxBytes = 16 * 1024;
const linesMax = 3;
const lengthMax = 600;

/**
 * The last errors in a log after its first `from` bytes, or null. `from` null: where the process began to write is unknown, so the end of
 * the log counts.
 */
export function lastWords(log: string, from: number | null): string | null {
  const complaints = endOf(log, from)
    .split('\n')
    .filter((text) => text.trim() !== '' && !isTrace(text))
    .map((text) => parseLine('', text))
    .filter(({ level }) => level === 'error')
    .slice(-linesMax)
    .map(told);
  return complaints.length === 0 ? null : complaints.join(' · ').slice(0, lengthMax);
}

/** The stack of a crash in Node does not help an operator. */
function isTrace(text: string): boolean {
  return /^(\s|file:\/\/|node:|\^|Node\.js v)/.test(text);
}

function told(line: LogLine): string {
  const reason = reasonIn(line);
  return reason === null ? line.message : `${line.message} (${reason})`;
}

function endOf(log: string, from: number | null): string {
  try {
    const file = openSync(log, 'r');
    try {
      const { size } = fstatSync(file);
      // The log may have been shortened meanwhile.
      const first = from === null || from > size ? 0 : from;
      const begin = Math.max(first, size - readMaxBytes);
      const bytes = Buffer.alloc(size - begin);
      const length = readSync(file, bytes, 0, bytes.length, begin);
      const text = bytes.toString('utf8', 0, length);
      // Cuts the incomplete first line.
      return begin === first ? text : text.slice(text.indexOf('\n') + 1);
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}
