import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findDgraph } from '../../../services/backend/graph/dgraph/test/test-cluster.ts';
import { Platform } from '../platform.ts';
import { startPlatform } from './bench-platform.ts';
import { atMost, type Figure, skipped } from './figure.ts';
import { fillGraph, muchOfIt } from './fill-graph.ts';
import { secondsOf } from './move.ts';
import { environment, svc } from './processes.ts';

const sqliteMaxS = { backup: 5, restore: 10 };
const dgraphMaxS = { backup: 60, restore: 60 };

/** How long a backup of a running platform takes, and a restore of it into an empty installation, with both graphs. */
export async function measureBackup(): Promise<Figure[]> {
  const { dir, remove } = await startPlatform();
  try {
    await svc(dir, 'down');
    await fillGraph(join(dir, 'data', 'graph.sqlite'));
    await svc(dir, 'up');
    const file = join(dir, 'whole.backup.gz');
    const written = await secondsOf(() => svc(dir, 'backup', file));
    const other = join(dir, 'other');
    await svc(dir, 'init', other, '--yes');
    const key = join(dir, 'secrets', 'encryption.key');
    const restored = await secondsOf(() => svc(other, 'restore', file, '--encryption-key-file', key));
    return [
      atMost(`svc backup of ${muchOfIt}, while it runs`, written, sqliteMaxS.backup, 's'),
      atMost(`svc restore of ${muchOfIt}`, restored, sqliteMaxS.restore, 's'),
      ...(await measureDgraph(file, key)),
    ];
  } finally {
    await remove();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Restores the archive into Dgraph first: a restore fills it fastest. */
async function measureDgraph(file: string, key: string): Promise<Figure[]> {
  const [restore, backup] = [`svc restore of ${muchOfIt}: Dgraph`, `svc backup of ${muchOfIt}, while it runs: Dgraph`];
  if (findDgraph() === null) return [restore, backup].map((what) => skipped(what, 'dgraph is not on the path'));
  await using platform = await Platform.init({
    ...{ topology: 'distributed', graph: 'dgraph' },
    env: { PATH: environment.PATH ?? '' },
  });
  const { dir } = platform.installation;
  const restored = await secondsOf(() => svc(dir, 'restore', file, '--encryption-key-file', key));
  await platform.up();
  const written = await secondsOf(() => svc(dir, 'backup', join(platform.folder, 'whole.backup.gz')));
  return [atMost(restore, restored, dgraphMaxS.restore, 's'), atMost(backup, written, dgraphMaxS.backup, 's')];
}
