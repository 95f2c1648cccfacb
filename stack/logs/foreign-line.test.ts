import { expect, test } from 'vitest';
import { parseForeignLine } from './foreign-line.ts';

const now = Date.parse('2026-11-22T12:00:00Z');

const nats = (word: string) => `[4711] 2026/11/21 18:00:00.123456 [${word}] x`;
const dgraph = (letter: string, message = 'x') => `${letter}1122 00:16:11.271686   28899 run.go:591] ${message}`;

test.each([
  [nats('INF'), { time: Date.parse('2026-11-21T18:00:00.123Z'), level: 'info', message: 'x' }],
  [nats('WRN'), { level: 'warn' }],
  [nats('ERR'), { level: 'error' }],
  [nats('FTL'), { level: 'error' }],
  [nats('DBG'), { level: 'debug' }],
  [dgraph('I'), { time: Date.parse('2026-11-22T00:16:11.271Z'), level: 'info', message: 'x' }],
  [dgraph('W'), { level: 'warn' }],
  [dgraph('E'), { level: 'error' }],
  [dgraph('F'), { level: 'error' }],
  // Dgraph writes these lines at every start and stop, so they are not errors.
  [dgraph('E', '--my flag is provided without bindall, Did you forget to specify bindall?'), { level: 'info' }],
  [dgraph('E', 'Error during SubscribeForUpdates for prefix "\\x00": unable to find any servers'), { level: 'info' }],
  ['Dgraph version   : v25.4.0', { level: 'info' }],
  ['Level 6 [B]: NumTables: 00. Size: 0 B of 10 MiB.', { level: 'info' }],
])('a line of nats-server or Dgraph has its time, level and message: %s', (text, line) => {
  expect(parseForeignLine(text, now)).toMatchObject(line);
});

test('of a line with a whole schema the beginning is enough', () => {
  const line = parseForeignLine(dgraph('I', `ALTER op: ${'x'.repeat(12_000)}`), now);
  expect(line?.message).toMatch(/^ALTER op: x{390}…$/);
});

test('a line of December, read in January, is of the previous year', () => {
  const line = parseForeignLine('I1231 23:59:59.000000 1 x.go:5] x', Date.parse('2027-01-01T00:00:01Z'));
  expect(line?.time).toBe(Date.parse('2026-12-31T23:59:59Z'));
});

test.each([
  'nats-server: no such file',
  'panic: runtime error',
  '2026/11/22 00:16:11 listen tcp 127.0.0.1:8080: bind: address already in use',
  '',
])('a line of another source is refused: %s', (text) => {
  expect(parseForeignLine(text, now)).toBeNull();
});
