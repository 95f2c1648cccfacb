import { expect, test } from 'vitest';
import { EventReader } from './event-reader.ts';

test('an event is read when its last part has arrived', () => {
  const reader = new EventReader();
  expect(reader.read('event: message\nda')).toEqual([]);
  expect(reader.read('ta: {"a":1}\n')).toEqual([]);
  expect(reader.read('\n: \n\nid: 3\ndata: {"b":2}\n\ndata:')).toEqual(['{"a":1}', '{"b":2}']);
  expect(reader.read('{"c":\r\ndata: 3}\r\n\r\n')).toEqual(['{"c":\n3}']);
});

test('a large event in many parts takes no time', () => {
  const reader = new EventReader();
  const started = performance.now();
  reader.read('data: ');
  for (let i = 0; i < 500; i++) expect(reader.read('x'.repeat(20_000))).toEqual([]);
  expect(reader.read('\n\n')[0]?.length).toBe(10_000_000);
  expect(performance.now() - started).toBeLessThan(1000);
});
