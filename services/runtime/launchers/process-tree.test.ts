import { expect, test } from 'vitest';
import { treeOf } from './process-tree.ts';

const one = (pid: number, parent: number, more = {}) => ({
  pid,
  parent,
  group: pid,
  session: pid,
  birth: `b${pid}`,
  mark: null,
  ...more,
});

const root = { pid: 10, mark: 'ours', birth: 'b10', current: true, isHolder: false };
const pids = (found: readonly { pid: number }[]) => found.map(({ pid }) => pid).sort((a, b) => a - b);

test.each([
  ['the root', one(10, 1)],
  ['a child of the root, with its own environment, group and session', one(11, 10)],
  ['a process in its group', one(11, 1, { group: 10 })],
  ['a process in its session', one(11, 1, { session: 10 })],
  ['a process with its mark', one(11, 1, { mark: 'ours' })],
])('%s belongs to the tree', (_name, process) => {
  const around = [one(1, 0), one(10, 1), one(99, 1, { mark: 'of another' }), process];
  expect(pids(treeOf(root, around))).toContain(process.pid);
  expect(pids(treeOf(root, around))).not.toContain(99);
});

test('descendants of members belong to the tree', () => {
  const found = treeOf(root, [one(11, 1, { mark: 'ours' }), one(12, 11), one(13, 12), one(14, 1)]);
  expect(pids(found)).toEqual([11, 12, 13]);
});

test('of an ended root only the mark counts, because its pid may be reused', () => {
  const reused = [one(10, 1, { birth: 'later' }), one(11, 10), one(12, 1, { group: 10 }), one(13, 1, { mark: 'ours' })];
  expect(pids(treeOf({ ...root, current: false }, reused))).toEqual([13]);
  expect(pids(treeOf(root, [one(10, 1, { birth: 'later' })]))).toEqual([]);
});
