import { expect, test } from 'vitest';
import { EventStreamReader } from './event-stream.ts';

function readAll(chunks: readonly string[], eventMaxBytes = 1000) {
  const messages: string[] = [];
  const overlong: number[] = [];
  const reader = new EventStreamReader(eventMaxBytes, {
    message: (data) => messages.push(data.toString()),
    overlong: (bytes) => overlong.push(bytes),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { messages, overlong };
}

const stream =
  ': hello\n\nid: 1\nevent: message\ndata: {"a":1}\n\nretry: 10\ndata:{"b":\r\ndata: 2}\r\n\r\nevent: other\ndata: no\n\ndata: cut off';

test('messages are the data of events, cut anywhere', () => {
  const expected = ['{"a":1}', '{"b":\n2}'];
  expect(readAll([stream]).messages).toEqual(expected);
  expect(readAll([...stream]).messages).toEqual(expected);
});

test('an event that is too large in one line or in many is let go, the next is read', () => {
  const many = Array.from({ length: 5 }, () => `data: ${'x'.repeat(5)}\n`).join('');
  const { messages, overlong } = readAll([`data: ${'x'.repeat(30)}\n\n${many}\ndata: ok\n\n`], 20);
  expect(overlong).toHaveLength(2);
  expect(messages).toEqual(['ok']);
});
