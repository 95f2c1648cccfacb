import { oneLine } from '../../services/contracts/one-line.ts';
import { type LogLine, writerOf } from '../../stack/logs/read-logs.ts';
import type { Colour, Terminal } from './terminal.ts';
import { hang } from './width.ts';

const serviceColours: readonly Colour[] = ['cyan', 'magenta', 'blue', 'green'];
const levelColours: Readonly<Record<string, Colour>> = { warn: 'yellow', error: 'red', debug: 'grey', trace: 'grey' };

/** Time, service, level, text, then the other fields: one line, or on a terminal as many as it needs. */
export function describeLogLine(line: LogLine, terminal: Pick<Terminal, 'paint' | 'columns' | 'asTyped'>): string {
  const time = line.time === 0 ? '' : new Date(line.time).toISOString().slice(11, 23);
  const colour = serviceColours[hash(line.service) % serviceColours.length] ?? 'cyan';
  const hidden = new Set(['pid', 'hostname', 'service']);
  const fields = Object.entries(line.fields)
    .filter(([name]) => !hidden.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`);
  if (line.request !== null) fields.unshift(`request=${line.request}`);
  const head = [
    terminal.paint('grey', time),
    terminal.paint(colour, line.service.padEnd(10)),
    terminal.paint(levelColours[line.level] ?? 'grey', line.level.padEnd(5)),
    '',
  ].join(' ');
  const writer = writerOf(line);
  const { stderr } = line.fields;
  const text =
    writer !== null
      ? `${terminal.paint('bold', oneLine(writer))}: ${oneLine(typeof stderr === 'string' ? stderr : line.message)}`
      : `${oneLine(line.message)} ${terminal.paint('grey', oneLine(fields.join(' ')))}`;
  return hang({ head, text: text.trimEnd(), indent: messageIndent }, terminal).trimEnd();
}

const messageIndent = 4;

/** Only the message of an error. The file has its stack. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  const isError = typeof value === 'object' && value !== null && 'message' in value && 'stack' in value;
  return JSON.stringify(isError ? value.message : value);
}

function hash(text: string): number {
  return [...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
}
