import { expect, test } from 'vitest';
import { Budget } from './budget.ts';

const limits = { what: 'doors', hint: 'Close one.', total: 1000 };
const byKey = () => new Budget({ ...limits, shares: { key: 400, workspace: 600 } });
const byUser = () => new Budget({ ...limits, shares: { user: 400 } });

let count = 0;
const newOwner = (workspace = `w${++count}`) => ({ key: `k${++count}`, workspace });

test('a key gets its share and no more, and has room again after a release', () => {
  const budget = byKey();
  const owner = newOwner();
  const held = budget.hold(owner, 400);
  expect(() => budget.hold(owner, 1)).toThrow(/^This key may hold at most 400 doors at once/);
  expect(() => held.resize(401)).toThrow(expect.objectContaining({ code: 'rate_limited', hint: 'Close one.' }));
  budget.hold(newOwner(), 100).release();
  held.release();
  held.release();
  expect(budget.held).toBe(0);
  budget.hold(owner, 400);
});

test('all keys of a workspace get its share together, and no more', () => {
  const budget = new Budget({ ...limits, shares: { key: 300, workspace: 400 } });
  const workspace = 'acme';
  const first = budget.hold(newOwner(workspace), 300);
  budget.hold(newOwner(workspace), 100);
  expect(() => budget.hold(newOwner(workspace), 1)).toThrow(/^This workspace may hold at most 400 doors at once/);
  budget.hold(newOwner(), 300);
  first.release();
  budget.hold(newOwner(workspace), 100);
});

test('a refused amount is not counted', () => {
  const budget = byKey();
  expect(() => budget.hold(newOwner(), 401)).toThrow();
  expect(budget.held).toBe(0);
});

test('a sender that holds little gets more, even when all other senders hold their full share', () => {
  const budget = byUser();
  const got: number[] = [];
  for (let i = 0; i < 6; i++) {
    let amount = 400;
    const owner = { user: `u${i}` };
    while (!budget.hasRoom(owner, amount)) amount--;
    budget.take(owner, amount);
    got.push(amount);
  }
  expect(got).toEqual([400, 300, 150, 75, 37, 19]);
  expect(() => budget.take({ user: 'next' }, 20)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  budget.take({ user: 'next' }, 9);
});
