import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Process } from './processes.ts';
import { noteIntervalMs, TreeWatch } from './tree-watch.ts';

const one = (pid: number, parent: number, more: Partial<Process> = {}): Process => ({
  ...{ pid, parent, group: pid, session: pid, birth: `b${pid}`, mark: null },
  ...more,
});
const root = { pid: 10, mark: 'ours', birth: null, current: true, isHolder: false };
const pids = (known: readonly Process[]) => known.map(({ pid }) => pid).sort((a, b) => a - b);

let now: readonly Process[] = [];
let looks = 0;
const look = async () => {
  looks++;
  return now;
};

beforeEach(() => {
  vi.useFakeTimers();
  looks = 0;
});
afterEach(() => vi.useRealTimers());

test('processes seen in a tree stay known when nothing links them to it any more', async () => {
  const tree = new TreeWatch(look).watch(root);
  now = [one(1, 0), one(10, 1), one(11, 10), one(12, 11), one(99, 1)];
  await vi.advanceTimersByTimeAsync(noteIntervalMs);
  expect(pids(tree.known())).toEqual([10, 11, 12]);
  now = [one(1, 0), one(12, 1), one(99, 1)];
  await tree.note();
  expect(pids(tree.known())).toEqual([12]);
  // Its new children, and not the process that reused its pid.
  now = [one(1, 0), one(12, 1), one(13, 12)];
  await tree.note();
  expect(pids(tree.known())).toEqual([12, 13]);
  now = [one(1, 0), one(12, 1, { birth: 'later' })];
  await tree.note();
  expect(tree.known()).toEqual([]);
});

test('one look serves all trees, and none is taken when no tree is left', async () => {
  const watch = new TreeWatch(look);
  const trees = [watch.watch(root), watch.watch({ ...root, pid: 20, mark: 'other' })];
  now = [one(10, 1), one(20, 1)];
  await vi.advanceTimersByTimeAsync(noteIntervalMs);
  expect(looks).toBe(1);
  expect(trees.map((tree) => pids(tree.known()))).toEqual([[10], [20]]);
  for (const tree of trees) tree.end();
  await vi.advanceTimersByTimeAsync(10 * noteIntervalMs);
  expect(looks).toBe(1);
});

test('a failed look removes nothing', async () => {
  let fails = false;
  const tree = new TreeWatch(() => (fails ? Promise.reject(new Error('no /proc')) : look())).watch(root);
  now = [one(10, 1), one(11, 10)];
  await tree.note();
  fails = true;
  await tree.note();
  expect(pids(tree.known())).toEqual([10, 11]);
  tree.end();
});
