import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { beginning, EventStreamReader } from './event-stream.ts';

function readAll(chunks: readonly string[], eventMaxBytes = 10_000) {
  const messages: string[] = [];
  const overlong: number[] = [];
  const position = beginning();
  const sink = {
    message: (data: Buffer) => messages.push(data.toString()),
    overlong: (bytes: number) => overlong.push(bytes),
  };
  const reader = new EventStreamReader(eventMaxBytes, sink, position);
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { messages, overlong, position };
}

const stream =
  ': hello\n\nid: 1\nevent: message\ndata: {"a":1}\n\nretry: 10\ndata:{"b":\r\ndata: 2}\r\n\r\nevent: other\ndata: no\n\ndata: cut off';

test('messages are the data of events, cut anywhere', () => {
  const expected = ['{"a":1}', '{"b":\n2}'];
  expect(readAll([stream]).messages).toEqual(expected);
  expect(readAll([...stream]).messages).toEqual(expected);
});

test('an event that is too large, in one line or many, is dropped, and the next is read', () => {
  const many = Array.from({ length: 5 }, () => `data: ${'x'.repeat(5)}\n`).join('');
  const { messages, overlong } = readAll([`data: ${'x'.repeat(30)}\n\n${many}\ndata: ok\n\n`], 20);
  expect(overlong).toHaveLength(2);
  expect(messages).toEqual(['ok']);
});

test('an event without data is not a message', () => {
  const { messages, overlong } = readAll(['id: 1\ndata: \n\ndata:\n\n: still here\n\nevent: message\n\ndata: 2\n\n']);
  expect(messages).toEqual(['2']);
  expect(overlong).toEqual([]);
});

test.each<[string, string, string | null]>([
  ["the last event's id", 'id: 1\ndata: a\n\nid: 2\ndata: b\n\ndata: c\n\n', '2'],
  ['the id of an event without data', 'id: 1\ndata: \n\n', '1'],
  ['the id of an event without any other field', 'id:1\n\n', '1'],
  ['not the id of an incomplete event', 'id: 1\n\nid: 2\ndata: {"a', '1'],
  ['none without an id', 'data: a\n\n', null],
  ['none once it is reset', 'id: 1\n\nid:\ndata: a\n\n', null],
  ['the previous one when it contains a NUL', 'id: 1\n\nid: 2\u0000\n\n', '1'],
  ['none when a header cannot carry it', 'id: 1\n\nid: 2\u0001\n\n', null],
  ['none when it is longer than a header may be', `id: 1\n\nid: ${'2'.repeat(5000)}\n\n`, null],
  ['its bytes unchanged', 'id: é→\n\n', Buffer.from('é→').toString('latin1')],
])('the id to resume with is %s', (_name, text, id) => {
  expect(readAll([text]).position.lastEventId).toBe(id);
  expect(readAll([...text]).position.lastEventId).toBe(id);
});

test.each<[string, number | null]>([
  ['retry: 1500\n', 1500],
  ['retry:0\n', 0],
  ['retry: 10\nretry: 20\n', 20],
  ['retry: 10\nretry: soon\n', 10],
  ['retry: -1\n', null],
  ['retry:\n', null],
  ['retry: 99999999999999\n', 1_800_000],
])('%j means to resume after %s ms', (text, retryMs) => {
  expect(readAll([text]).position.retryMs).toBe(retryMs);
});

test('an event of endless empty lines counts as too large', () => {
  const { messages, overlong } = readAll([...Array(100).fill('data:\n'.repeat(1000)), '\ndata: ok\n\n'], 50_000);
  expect(overlong).toHaveLength(1);
  expect(messages).toEqual(['ok']);
});

test('an event of many lines is joined in order', () => {
  const lines = Array.from({ length: 3000 }, (_, i) => String(i));
  const { messages } = readAll([`${lines.map((line) => `data: ${line}\n`).join('')}\n`], 50_000);
  expect(messages).toEqual([lines.join('\n')]);
});

test('an event does not keep the chunks of its lines in memory', async () => {
  const reader = new EventStreamReader(1_000_000, { message: () => {}, overlong: () => {} }, beginning());
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 1000; i++) reader.push(Buffer.from(`data: x\n:${'-'.repeat(65_000)}\n`));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const heldBytes = () => {
    collect();
    return process.memoryUsage().arrayBuffers - before;
  };
  // 65 MB have passed through.
  await expect.poll(heldBytes).toBeLessThan(10e6);
});
