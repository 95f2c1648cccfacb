import { expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { MemoryBudget } from './memory-budget.ts';

const limits = { totalBytes: 1000, shareBytes: 400 };

test('a key gets its share and no more, and has room again after a release', () => {
  const budget = new MemoryBudget(limits);
  const key = newId('key');
  const held = budget.hold(key, 400);
  expect(() => budget.hold(key, 1)).toThrow(/^The requests of this key may hold 400 bytes .* needs 1 more/);
  expect(() => held.resize(401)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  budget.hold(newId('key'), 100).release();
  held.release();
  held.release();
  expect(budget.heldBytes).toBe(0);
  budget.hold(key, 400);
});

test('what was refused is not counted', () => {
  const budget = new MemoryBudget(limits);
  expect(() => budget.hold(newId('key'), 401)).toThrow();
  expect(budget.heldBytes).toBe(0);
});

test('however many keys hold all they get, one that holds little gets more', () => {
  const budget = new MemoryBudget(limits);
  const got: number[] = [];
  for (let i = 0; i < 6; i++) {
    let bytes = limits.shareBytes;
    const key = newId('key');
    while (!budget.hasRoom(key, bytes)) bytes--;
    budget.hold(key, bytes);
    got.push(bytes);
  }
  expect(got).toEqual([400, 300, 150, 75, 37, 19]);
  expect(() => budget.hold(newId('key'), 20)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  budget.hold(newId('key'), 9);
});
