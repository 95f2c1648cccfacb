import { expect, test } from 'vitest';
import { LineReader, type OverlongLine } from './line-reader.ts';

function readAll(chunks: readonly (string | Buffer)[], lineMaxBytes = 1000) {
  const lines: string[] = [];
  const overlong: OverlongLine[] = [];
  const reader = new LineReader(lineMaxBytes, {
    line: (line) => lines.push(line.toString()),
    overlong: (line) => overlong.push(line),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return { lines, overlong };
}

test('lines are complete, however the stream was cut', () => {
  const text = 'one\n\nthree €\r\nlast';
  const whole = readAll([text]).lines;
  expect(whole).toEqual(['one', '', 'three €\r', 'last']);
  expect(readAll([...Buffer.from(text)].map((byte) => Buffer.of(byte))).lines).toEqual(whole);
  expect(readAll(['on', 'e\n', '\nthr', 'ee €\r\nla', 'st']).lines).toEqual(whole);
});

test('a long line of small and large parts is assembled in order', () => {
  const text = Array.from({ length: 60_000 }, (_, i) => `${i},`).join('');
  const sizes = [1, 10, 5000, 3, 4096, 4095, 70_000, 2, 100, 65_536, 9];
  const parts: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    parts.push(text.slice(at, at + size));
    at += size;
  }
  expect(readAll([...parts, '\nnext\n'], 1_000_000).lines).toEqual([text, 'next']);
  const { overlong } = readAll([...parts, '\n'], 200_000);
  expect(overlong.map(({ bytes, head, tail }) => [bytes, head.toString(), tail.toString()])).toEqual([
    [text.length, text.slice(0, 256), text.slice(-256)],
  ]);
});

test('a line of the largest size passes and one byte more does not', () => {
  const { lines, overlong } = readAll([`${'a'.repeat(10)}\n`, 'b'.repeat(5), `${'b'.repeat(6)}\n`, 'c\n'], 10);
  expect(lines).toEqual(['a'.repeat(10), 'c']);
  expect(overlong.map(({ bytes }) => bytes)).toEqual([11]);
});

test('an overlong line is dropped, its two ends are kept, and the next line is read', () => {
  const middle = Array.from({ length: 100 }, () => 'x'.repeat(1000));
  const { lines, overlong } = readAll(['{"id":7,', ...middle, '"end":1}\nnext\n'], 2000);
  expect(lines).toEqual(['next']);
  expect(overlong).toHaveLength(1);
  expect(overlong[0]?.bytes).toBe(8 + 100_000 + 8);
  expect(overlong[0]?.head.toString()).toMatch(/^\{"id":7,x+$/);
  expect(overlong[0]?.tail.toString()).toMatch(/^x+"end":1\}$/);
});

test('a line that arrives in a million pieces takes no more memory than its bytes', () => {
  const one = Buffer.of(120);
  const reader = new LineReader(2_000_000, { line: () => {}, overlong: () => {} });
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 1_000_000; i++) reader.push(one);
  expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
});
