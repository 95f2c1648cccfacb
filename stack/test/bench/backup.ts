import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPlatform } from './bench-platform.ts';
import { atMost, type Figure } from './figure.ts';
import { fillGraph, muchOfIt } from './fill-graph.ts';
import { secondsOf } from './move.ts';
import { svc } from './processes.ts';

const backupMaxS = 5;
const restoreMaxS = 10;

/** How long a backup of a platform that runs takes, and how long it takes to restore it elsewhere. */
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
      atMost(`svc backup of ${muchOfIt}, while it runs`, written, backupMaxS, 's'),
      atMost(`svc restore of ${muchOfIt}`, restored, restoreMaxS, 's'),
    ];
  } finally {
    await remove();
    await rm(dir, { recursive: true, force: true });
  }
}
