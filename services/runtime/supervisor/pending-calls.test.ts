import { expect, test } from 'vitest';
import { Cancellation } from '../../kit/cancellation.ts';
import { keptBytes } from '../../kit/test/kept-bytes.ts';
import { Pending, PendingCalls, pendingMax } from './pending-calls.ts';

const nothing = () => undefined;

function begin(calls: PendingCalls): Pending {
  const signal = new Cancellation();
  const call = { method: 'tools/call', params: new Uint8Array(), progress: null, signal, notify: nothing };
  const pending = new Pending(calls.nextId(), call, { resolve: nothing, reject: nothing, abandon: nothing });
  calls.add(pending);
  return pending;
}

test('gives no id twice, and none whose place is taken', () => {
  const calls = new PendingCalls();
  const long = begin(calls);
  const seen = new Set([long.id]);
  for (let round = 0; round < 3 * pendingMax; round++) {
    const pending = begin(calls);
    expect(seen.has(pending.id)).toBe(false);
    seen.add(pending.id);
    expect(calls.find(pending.id)).toBe(pending);
    calls.remove(pending);
    calls.remove(pending);
    expect(calls.find(pending.id)).toBe(null);
  }
  expect(calls.find(long.id)).toBe(long);
  expect(calls.all()).toEqual([long]);
  expect(calls.size).toBe(1);
});

test('is full with as many calls as it has places, and has room for each that ends', () => {
  const calls = new PendingCalls();
  while (!calls.isFull) begin(calls);
  expect(calls.size).toBe(pendingMax);
  const [first] = calls.all();
  if (first === undefined) throw new Error('There is no call.');
  calls.remove(first);
  expect(calls.isFull).toBe(false);
  expect(begin(calls).id).toBeGreaterThan(pendingMax);
});

test.each([-1, 0.5, Number.NaN, 1e300, 1 + pendingMax])('finds no call with the id %s', (id) => {
  const calls = new PendingCalls();
  begin(calls);
  expect(calls.find(id)).toBe(null);
});

test('leaves no call in memory that is answered', () => {
  const calls = new PendingCalls();
  const underWay: Pending[] = [];
  const kept = keptBytes(() => {
    const [oldest] = underWay.push(begin(calls)) > 8 ? underWay.splice(0, 1) : [];
    if (oldest !== undefined) calls.remove(oldest);
  });
  expect(kept).toBeLessThan(2_000_000);
});
