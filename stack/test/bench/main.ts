import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repository } from '../foreign-servers.ts';
import { measureBackup, measureMove } from './backup-and-move.ts';
import { measureChanges } from './changes.ts';
import { measureCommandLine } from './command-line.ts';
import { measureCommands } from './commands.ts';
import { measureContainers } from './containers.ts';
import { measureDisturbances } from './disturbances.ts';
import { measureEndurance } from './endurance.ts';
import { type Figure, table } from './figure.ts';
import { measureGraph } from './graph.ts';
import { measurePages } from './pages.ts';
import { measureProxies } from './proxies.ts';
import { measureReplicas } from './replicas.ts';
import { measureSessions } from './sessions.ts';
import { measureSignIn } from './sign-in.ts';
import { measureUp } from './up.ts';

const { positionals: wanted, values: files } = parseArgs({
  allowPositionals: true,
  options: { tbxark: { type: 'string', default: '' }, 'npm-proxy': { type: 'string', default: '' } },
});

/** `npm run bench [-- GROUP…]`: measures the figures that the platform promises and prints them, with what was reached. */
const groups: Readonly<Record<string, () => Promise<Figure[]>>> = {
  commands: measureCommands,
  'command-line': measureCommandLine,
  up: measureUp,
  proxies: () => measureProxies({ tbxark: files.tbxark, npmProxy: files['npm-proxy'] }),
  endurance: measureEndurance,
  disturbances: measureDisturbances,
  sessions: measureSessions,
  'sign-in': measureSignIn,
  pages: measurePages,
  changes: measureChanges,
  replicas: measureReplicas,
  graph: measureGraph,
  backup: measureBackup,
  move: measureMove,
  containers: measureContainers,
};

for (const name of wanted) {
  if (Object.hasOwn(groups, name)) continue;
  process.stderr.write(`There is no group "${name}". Groups: ${Object.keys(groups).join(', ')}.\n`);
  process.exit(2);
}

const folder = join(repository, 'dist', 'bench');
await mkdir(folder, { recursive: true });
const figures: Figure[] = [];
for (const [name, measure] of Object.entries(groups)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name}\n`);
  figures.push(...(await measure()));
  // After each group, so that a group that fails loses none of the figures before it.
  await writeFile(join(folder, 'figures.json'), `${JSON.stringify(figures, null, 2)}\n`);
}
process.stdout.write(`${table(figures)}\n`);
process.exit(figures.some((figure) => figure.reached === false) ? 1 : 0);
