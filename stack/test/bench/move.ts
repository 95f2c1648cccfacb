import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findDgraph } from '../../../services/backend/graph/dgraph/test/test-cluster.ts';
import { startPlatform } from './bench-platform.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { fillGraph, muchOfIt } from './fill-graph.ts';
import { svc } from './processes.ts';

const moveMaxS = 60;

/** How long a whole `svc move` takes of a platform that runs and holds much, to each side and back. */
export async function measureMove(): Promise<Figure[]> {
  const { dir, remove } = await startPlatform();
  try {
    await svc(dir, 'down');
    await fillGraph(join(dir, 'data', 'graph.sqlite'));
    await svc(dir, 'up');
    const sides = [
      ['several processes', '--to', 'distributed'],
      ...(findDgraph() === null
        ? []
        : [
            ['Dgraph', '--graph', 'dgraph'],
            ['SQLite again', '--graph', 'sqlite'],
          ]),
    ] as const;
    if (sides.length === 1) process.stderr.write('without dgraph on the path, no move to it is measured\n');
    const figures: Figure[] = [];
    for (const [name, ...flags] of sides) figures.push(...(await measureOne(dir, name, flags)));
    return figures;
  } finally {
    await remove();
    await rm(dir, { recursive: true, force: true });
  }
}

async function measureOne(dir: string, name: string, flags: readonly string[]): Promise<Figure[]> {
  const what = `svc move of ${muchOfIt}: to ${name}`;
  const moved = await secondsOf(() => svc(dir, 'move', ...flags, '--yes'));
  const confirmed = await secondsOf(() => svc(dir, 'move', '--confirm'));
  return [atMost(what, moved, moveMaxS, 's'), reported(`svc move --confirm, from there`, confirmed, 's')];
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
