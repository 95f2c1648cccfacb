import { expect, test } from 'vitest';
import { parseNatsLine } from './nats-line.ts';

test('a line of nats-server has a time and a level', () => {
  expect(parseNatsLine('[4711] 2026/11/21 18:00:00.123456 [INF] Server is ready')).toEqual({
    time: Date.UTC(2026, 10, 21, 18, 0, 0, 123),
    level: 'info',
    message: 'Server is ready',
  });
});

test.each([
  ['WRN', 'warn'],
  ['ERR', 'error'],
  ['FTL', 'error'],
  ['DBG', 'debug'],
])('%s is %s', (word, level) => {
  expect(parseNatsLine(`[1] 2026/11/21 18:00:00 [${word}] x`)?.level).toBe(level);
});

test('any other line is refused', () => {
  expect(parseNatsLine('nats-server: no such file')).toBeNull();
});
