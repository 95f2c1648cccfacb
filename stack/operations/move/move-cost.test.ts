import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sizeOf } from '../../machine/size-of.ts';
import { distributed, embedded, inContainers, onDgraph } from '../test/sides.ts';
import { costOf, type Load } from './move-cost.ts';

const megabyte = 1024 * 1024;

test('the size of a folder is that of its files, without their holes, and a missing folder has none', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-size-'));
  mkdirSync(join(dir, 'a/b'), { recursive: true });
  writeFileSync(join(dir, 'one'), 'x'.repeat(10));
  writeFileSync(join(dir, 'a/b/two'), 'x'.repeat(5));
  expect([sizeOf(dir), sizeOf(join(dir, 'one')), sizeOf(join(dir, 'none'))]).toEqual([15, 10, 0]);
  truncateSync(join(dir, 'one'), 64 * megabyte);
  expect(sizeOf(dir)).toBeLessThan(megabyte);
  rmSync(dir, { recursive: true });
});

test.each<[string, Partial<Load>, number, number]>([
  ['a graph that stays is archived', { to: distributed }, 101, 9],
  ['files of skills are archived with it', { to: distributed, fileBytes: 40 * megabyte }, 141, 11],
  ['a graph in Dgraph takes a cluster, and more room', { to: onDgraph, fillsGraph: true }, 565, 149],
  ['back it takes as much as it has', { from: onDgraph, to: distributed, fillsGraph: true }, 201, 79],
  ['a Dgraph that stays is archived', { from: onDgraph, to: onDgraph }, 101, 69],
  ['into volumes it is copied twice more', { to: inContainers, inVolumes: true, otherBytes: 20 * megabyte }, 341, 51],
])('%s', (_what, load, neededMb, downSeconds) => {
  const all = { from: embedded, to: distributed, fillsGraph: false, graphBytes: 100 * megabyte };
  expect(costOf({ ...all, inVolumes: false, fileBytes: 0, busBytes: 0, otherBytes: 0, ...load })).toEqual({
    neededBytes: neededMb * megabyte,
    downSeconds,
  });
});
