import { expect, test } from 'vitest';
import { parseDgraphLine } from './dgraph-line.ts';

const now = Date.parse('2026-11-22T12:00:00Z');

test('a line of Dgraph has its time, its level and its message', () => {
  expect(parseDgraphLine('I1122 00:16:11.271686   28899 run.go:591] gRPC server started.', now)).toEqual({
    time: Date.parse('2026-11-22T00:16:11.271Z'),
    level: 'info',
    message: 'gRPC server started.',
  });
});

test.each([
  ['W', 'warn'],
  ['E', 'error'],
  ['F', 'error'],
])('%s is %s', (letter, level) => {
  expect(parseDgraphLine(`${letter}1122 00:16:11.271686 1 x.go:5] something`, now)?.level).toBe(level);
});

test('of a line with a whole schema the beginning is enough', () => {
  const line = parseDgraphLine(`I1122 00:16:11.271686 1 x.go:5] ALTER op: ${'x'.repeat(12_000)}`, now);
  expect(line?.message).toMatch(/^ALTER op: x{390}…$/);
});

test('a line of December, read in January, is of the previous year', () => {
  const line = parseDgraphLine('I1231 23:59:59.000000 1 x.go:5] x', Date.parse('2027-01-01T00:00:01Z'));
  expect(line?.time).toBe(Date.parse('2026-12-31T23:59:59Z'));
});

test.each([
  'E1122 00:16:11.269404   28899 groups.go:68] --my flag is provided without bindall, Did you forget to specify bindall?',
  'E1122 00:16:11.271597   28899 groups.go:1159] Error during SubscribeForUpdates for prefix "\\x00": unable to find any servers',
  'Dgraph version   : v25.4.0',
  'Level 6 [B]: NumTables: 00. Size: 0 B of 10 MiB.',
])('a line of every start and stop is not an error: %s', (text) => {
  expect(parseDgraphLine(text, now)?.level).toBe('info');
});

test.each(['panic: runtime error', '2026/11/22 00:16:11 listen tcp 127.0.0.1:8080: bind: address already in use', ''])(
  'a line of another source is not its line: %s',
  (text) => {
    expect(parseDgraphLine(text, now)).toBeNull();
  },
);
