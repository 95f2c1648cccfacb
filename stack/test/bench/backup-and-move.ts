import { join } from 'node:path';
import type { Platform, PlatformOptions } from '../platform.ts';
import { initPlatform, missingFor } from './bench-platform.ts';
import { atMost, type Figure, reported, skipped } from './figure.ts';
import { muchOfIt, startFilled } from './fill-graph.ts';
import { timeOf } from './load.ts';

const moveMaxS = 60;
const dgraph = { topology: 'distributed', graph: 'dgraph' } as const;

interface Limits extends PlatformOptions {
  readonly restoreMaxS: number;
  readonly backupMaxS: number;
}

const graphs: Readonly<Record<string, Limits>> = {
  SQLite: { restoreMaxS: 10, backupMaxS: 5 },
  Dgraph: { ...dgraph, restoreMaxS: 60, backupMaxS: 60 },
};

/** How long a restore into an empty installation takes, and a backup of the running platform afterwards, with each graph. */
export async function measureBackup(): Promise<Figure[]> {
  await using filled = await startFilled();
  const file = join(filled.folder, 'whole.backup.gz');
  await filled.svc('backup', file);
  const key = join(filled.installation.secretsDir, 'encryption.key');
  const figures: Figure[] = [];
  for (const [name, { restoreMaxS, backupMaxS, ...options }] of Object.entries(graphs)) {
    const missing = await missingFor(options);
    if (missing !== null) {
      figures.push(skipped(`svc backup and svc restore with ${name}`, missing));
      continue;
    }
    await using platform = await initPlatform(options);
    const restored = await secondsOf(platform, 'restore', file, '--encryption-key-file', key);
    await platform.up();
    const written = await secondsOf(platform, 'backup', join(platform.folder, 'whole.backup.gz'));
    figures.push(
      atMost(`svc restore of ${muchOfIt}: ${name}`, restored, restoreMaxS, 's'),
      atMost(`svc backup of ${muchOfIt}, while it runs: ${name}`, written, backupMaxS, 's'),
    );
  }
  return figures;
}

/** How long a whole `svc move` takes of a platform that runs and holds much, to each side and back. */
export async function measureMove(): Promise<Figure[]> {
  await using platform = await startFilled();
  const missing = await missingFor(dgraph);
  const moves: Readonly<Record<string, readonly string[]>> = {
    'several processes': ['--to', 'distributed'],
    ...(missing === null && { Dgraph: ['--graph', 'dgraph'], 'SQLite again': ['--graph', 'sqlite'] }),
  };
  const figures = missing === null ? [] : [skipped('svc move to Dgraph', missing)];
  for (const [name, flags] of Object.entries(moves)) {
    const moved = await secondsOf(platform, 'move', ...flags, '--yes');
    const confirmed = await secondsOf(platform, 'move', '--confirm');
    figures.push(atMost(`svc move of ${muchOfIt}: to ${name}`, moved, moveMaxS, 's'));
    figures.push(reported('svc move --confirm, from there', confirmed, 's'));
  }
  return figures;
}

async function secondsOf(platform: Platform, ...args: readonly string[]): Promise<number> {
  return (await timeOf(() => platform.svc(...args))) / 1000;
}
