import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findDgraph } from '../../../services/backend/graph/dgraph/test/test-cluster.ts';
import { repository } from '../foreign-servers.ts';
import type { PlatformOptions } from '../platform.ts';
import { measureBackup, measureMove } from './backup-and-move.ts';
import { type BenchPlatform, startPlatform } from './bench-platform.ts';
import { measureChanges } from './changes.ts';
import { measureCommands, measureUp } from './commands.ts';
import { measureContainers } from './containers.ts';
import { measureDisturbances } from './disturbances.ts';
import { measureEndurance } from './endurance.ts';
import { type Figure, table } from './figure.ts';
import { measureGraph } from './graph.ts';
import { measureMemory } from './memory.ts';
import { measureProxies } from './proxies.ts';
import { measureReplicas } from './replicas.ts';
import { measureDistributed, measureSpeed } from './speed.ts';

/** NATS, Dgraph and all services: two elections are most of it. */
const upWithDgraphMaxMs = 10_000;

interface Group {
  /** Why it cannot be measured here; null where it can. */
  readonly missing?: () => string | null;
  readonly measure: () => Promise<Figure[]>;
}

const { positionals: wanted, values: files } = parseArgs({
  allowPositionals: true,
  options: { tbxark: { type: 'string' }, 'npm-proxy': { type: 'string' } },
});
const { tbxark = '', 'npm-proxy': npmProxy = '' } = files;

const inProcesses = (count: number): PlatformOptions => ({
  topology: 'distributed',
  replicas: { 'remote-mcp': count, runtime: count },
});

/** `npm run bench [-- GROUP…]`: measures the figures that the platform promises and prints them, with what was reached. */
const groups: Readonly<Record<string, Group>> = {
  commands: onOwnPlatform({}, measureCommands),
  up: onOwnPlatform({}, measureUp),
  speed: onOwnPlatform({}, measureSpeed),
  proxies: {
    missing: () =>
      tbxark === '' || npmProxy === '' ? 'name the two proxies: proxies --tbxark FILE --npm-proxy FILE' : null,
    ...onOwnPlatform({}, (bench) => measureProxies(bench, { tbxark, npmProxy })),
  },
  endurance: onOwnPlatform({}, measureEndurance),
  disturbances: onOwnPlatform({}, measureDisturbances),
  memory: onOwnPlatform({}, measureMemory),
  distributed: onOwnPlatform(inProcesses(1), measureDistributed),
  changes: onOwnPlatform(inProcesses(1), measureChanges),
  replicas: onOwnPlatform(inProcesses(2), measureReplicas),
  graph: { measure: measureGraph },
  dgraph: {
    missing: () => (findDgraph() === null ? 'dgraph is not on the path' : null),
    ...onOwnPlatform({ ...inProcesses(1), graph: 'dgraph' }, (bench) => measureUp(bench, upWithDgraphMaxMs)),
  },
  backup: { measure: measureBackup },
  move: { measure: measureMove },
  containers: { measure: measureContainers },
};

for (const name of wanted) {
  if (Object.hasOwn(groups, name)) continue;
  process.stderr.write(`There is no group "${name}". Groups: ${Object.keys(groups).join(', ')}.\n`);
  process.exit(2);
}

const file = join(repository, 'dist', 'bench', 'figures.json');
const figures: Figure[] = [];
const skipped: Record<string, string> = {};
for (const [name, { missing, measure }] of Object.entries(groups)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const why = missing?.() ?? null;
  if (why === null) {
    process.stderr.write(`measuring ${name}\n`);
    const measured = await measure();
    figures.push(...measured);
    process.stderr.write(`${table(measured)}\n`);
  } else {
    process.stderr.write(`skipped ${name}: ${why}\n`);
    skipped[name] = why;
  }
  await writeFigures();
}

/** After each group, so that a group that fails loses none of the figures before it. */
async function writeFigures(): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  const content = { at: new Date().toISOString(), node: process.version, figures, skipped };
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

/** A platform for one group alone, because a group may leave something behind. */
function onOwnPlatform(options: PlatformOptions, measure: (bench: BenchPlatform) => Promise<Figure[]>): Group {
  return {
    async measure() {
      const bench = await startPlatform(options);
      await using _ = bench.platform;
      return await measure(bench);
    },
  };
}

process.stdout.write(`${table(figures)}\n\n${file.slice(repository.length + 1)}\n`);
process.exit(figures.some((figure) => figure.reached === false) ? 1 : 0);
