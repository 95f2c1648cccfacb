import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { measureBackup } from './backup.ts';
import { measureChanges } from './changes.ts';
import { measureCommands, measureUp } from './commands.ts';
import { measureContainers } from './containers.ts';
import { measureDistributed } from './distributed.ts';
import { measureDisturbances } from './disturbances.ts';
import type { Figure } from './figure.ts';
import { measureGraph } from './graph.ts';
import { measureMemory } from './memory.ts';
import { measureMove } from './move.ts';
import { type Platform, type PlatformOptions, startPlatform } from './platform.ts';
import { repository } from './processes.ts';
import { measureReplicas } from './replicas.ts';
import { table } from './report.ts';
import { measureSpeed } from './speed.ts';

/** NATS, Dgraph and all services: two elections are most of it. */
const upWithDgraphMaxMs = 10_000;

/** `npm run bench [-- NAME…]`: measures the figures that the platform promises and prints them, with what was reached. */
const groups: Readonly<Record<string, () => Promise<Figure[]>>> = {
  commands: () => onOwnPlatform({}, measureCommands),
  up: () => onOwnPlatform({}, measureUp),
  speed: () => onOwnPlatform({}, measureSpeed),
  disturbances: () => onOwnPlatform({}, measureDisturbances),
  memory: () => onOwnPlatform({}, measureMemory),
  distributed: () => onOwnPlatform({ replicas: 1 }, measureDistributed),
  changes: () => onOwnPlatform({ replicas: 1 }, measureChanges),
  replicas: () => onOwnPlatform({ replicas: 2 }, measureReplicas),
  graph: measureGraph,
  dgraph: () => onOwnPlatform({ replicas: 1, graph: 'dgraph' }, (platform) => measureUp(platform, upWithDgraphMaxMs)),
  backup: measureBackup,
  move: measureMove,
  containers: measureContainers,
};
const wanted = process.argv.slice(2);

const figures: Figure[] = [];
for (const [name, measure] of Object.entries(groups)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name}\n`);
  figures.push(...(await measure()));
}

/** What one group leaves behind is none of the next one's business. */
async function onOwnPlatform(
  options: PlatformOptions,
  measure: (platform: Platform) => Promise<Figure[]>,
): Promise<Figure[]> {
  const platform = await startPlatform(options);
  try {
    return await measure(platform);
  } finally {
    await platform.remove();
  }
}

const file = join(repository, 'dist', 'bench', 'figures.json');
await mkdir(join(file, '..'), { recursive: true });
await writeFile(file, `${JSON.stringify({ at: new Date().toISOString(), node: process.version, figures }, null, 2)}\n`);
process.stdout.write(`${table(figures)}\n\n${file.slice(repository.length + 1)}\n`);
process.exit(figures.some((figure) => figure.reached === false) ? 1 : 0);
