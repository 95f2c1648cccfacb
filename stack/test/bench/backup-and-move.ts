import { join } from 'node:path';
import { findDgraph } from '../../../services/backend/graph/dgraph/test/test-cluster.ts';
import type { Platform } from '../platform.ts';
import { initPlatform } from './bench-platform.ts';
import { atMost, type Figure, reported, skipped } from './figure.ts';
import { muchOfIt, startFilled } from './fill-graph.ts';
import { timeOf } from './processes.ts';

const sqliteMaxS = { backup: 5, restore: 10 };
const dgraphMaxS = { backup: 60, restore: 60 };
const moveMaxS = 60;

const secondsOf = async (platform: Platform, ...args: readonly string[]) =>
  (await timeOf(() => platform.svc(...args))) / 1000;

/** How long a backup of a running platform takes, and a restore of it into an empty installation, with both graphs. */
export async function measureBackup(): Promise<Figure[]> {
  await using platform = await startFilled();
  await using empty = await initPlatform({});
  const file = join(platform.folder, 'whole.backup.gz');
  const written = await secondsOf(platform, 'backup', file);
  const key = join(platform.installation.secretsDir, 'encryption.key');
  const restored = await secondsOf(empty, 'restore', file, '--encryption-key-file', key);
  return [
    atMost(`svc backup of ${muchOfIt}, while it runs`, written, sqliteMaxS.backup, 's'),
    atMost(`svc restore of ${muchOfIt}`, restored, sqliteMaxS.restore, 's'),
    ...(await measureDgraph(file, key)),
  ];
}

/** Restores the archive into Dgraph first: a restore fills it fastest. */
async function measureDgraph(file: string, key: string): Promise<Figure[]> {
  const [restore, backup] = [`svc restore of ${muchOfIt}: Dgraph`, `svc backup of ${muchOfIt}, while it runs: Dgraph`];
  if (findDgraph() === null) return [restore, backup].map((what) => skipped(what, 'dgraph is not on the path'));
  await using platform = await initPlatform({ topology: 'distributed', graph: 'dgraph' });
  const restored = await secondsOf(platform, 'restore', file, '--encryption-key-file', key);
  await platform.up();
  const written = await secondsOf(platform, 'backup', join(platform.folder, 'whole.backup.gz'));
  return [atMost(restore, restored, dgraphMaxS.restore, 's'), atMost(backup, written, dgraphMaxS.backup, 's')];
}

/** How long a whole `svc move` takes of a platform that runs and holds much, to each side and back. */
export async function measureMove(): Promise<Figure[]> {
  await using platform = await startFilled();
  const graphs = [
    ['Dgraph', '--graph', 'dgraph'],
    ['SQLite again', '--graph', 'sqlite'],
  ] as const;
  const sides = [['several processes', '--to', 'distributed'], ...(findDgraph() === null ? [] : graphs)] as const;
  if (sides.length === 1) process.stderr.write('without dgraph on the path, no move to it is measured\n');
  const figures: Figure[] = [];
  for (const [name, ...flags] of sides) {
    const moved = await secondsOf(platform, 'move', ...flags, '--yes');
    const confirmed = await secondsOf(platform, 'move', '--confirm');
    figures.push(atMost(`svc move of ${muchOfIt}: to ${name}`, moved, moveMaxS, 's'));
    figures.push(reported('svc move --confirm, from there', confirmed, 's'));
  }
  return figures;
}
