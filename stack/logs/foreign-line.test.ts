import { expect, test } from 'vitest';
import { parseForeignLine } from './foreign-line.ts';

const now = Date.parse('2026-11-22T12:00:00Z');

test.each([
  ['[4711] 2026/11/21 18:00:00.123456 [INF] Server is ready', '2026-11-21T18:00:00.123Z', 'Server is ready'],
  [
    'I1122 00:16:11.271686   28899 run.go:591] gRPC server started.',
    '2026-11-22T00:16:11.271Z',
    'gRPC server started.',
  ],
])('a line of nats-server or Dgraph has its time, its level and its message: %s', (text, time, message) => {
  expect(parseForeignLine(text, now)).toEqual({ time: Date.parse(time), level: 'info', message });
});

const nats = (word: string) => `[1] 2026/11/21 18:00:00 [${word}] x`;
const dgraph = (letter: string, message = 'x') => `${letter}1122 00:16:11.271686 1 x.go:5] ${message}`;

test.each([
  [nats('WRN'), 'warn'],
  [nats('ERR'), 'error'],
  [nats('FTL'), 'error'],
  [nats('DBG'), 'debug'],
  [dgraph('W'), 'warn'],
  [dgraph('E'), 'error'],
  [dgraph('F'), 'error'],
  // Lines of every start and stop are not errors.
  [dgraph('E', '--my flag is provided without bindall, Did you forget to specify bindall?'), 'info'],
  [dgraph('E', 'Error during SubscribeForUpdates for prefix "\\x00": unable to find any servers'), 'info'],
  ['Dgraph version   : v25.4.0', 'info'],
  ['Level 6 [B]: NumTables: 00. Size: 0 B of 10 MiB.', 'info'],
])('the level of %s is %s', (text, level) => {
  expect(parseForeignLine(text, now)?.level).toBe(level);
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
