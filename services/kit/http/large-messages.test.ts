import { expect, test } from 'vitest';
import { LargeMessages } from './large-messages.ts';

const mebibyte = 1024 * 1024;

test('each sender has its large messages read in order, 8 MiB a second', async () => {
  const messages = new LargeMessages();
  const order: number[] = [];
  const begun = performance.now();
  const reading = [0, 1, 2, 3].map((nth) => messages.read('sender', mebibyte, () => order.push(nth)));
  await Promise.all([messages.read('other', mebibyte, () => order.push(9)), reading[0]]);
  expect(order.toSorted()).toEqual([0, 9]);
  await Promise.all(reading);
  expect(order.filter((nth) => nth < 9)).toEqual([0, 1, 2, 3]);
  // Timers may be a millisecond early.
  expect(performance.now() - begun).toBeGreaterThan(3 * 125 - 2);
});

test('small messages do not wait', async () => {
  const messages = new LargeMessages();
  const large = Array.from({ length: 4 }, () => messages.read('sender', mebibyte, () => 'large'));
  expect(messages.read('sender', 64 * 1024, () => 'small')).toBe('small');
  await Promise.all(large);
});
