import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { measureCommands, measureUp } from './commands.ts';
import { measureDisturbances } from './disturbances.ts';
import type { Figure } from './figure.ts';
import { measureMemory } from './memory.ts';
import { startPlatform } from './platform.ts';
import { repository } from './processes.ts';
import { table } from './report.ts';
import { measureSpeed } from './speed.ts';

/** `npm run bench [-- NAME…]`: measures the figures that the platform promises and prints them, with what was reached. */
const groups = {
  commands: measureCommands,
  up: measureUp,
  speed: measureSpeed,
  disturbances: measureDisturbances,
  memory: measureMemory,
};
const wanted = process.argv.slice(2);

const figures: Figure[] = [];
for (const [name, measure] of Object.entries(groups)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name}\n`);
  // Each has a platform of its own: what one leaves behind is none of the next one's business.
  const platform = await startPlatform();
  try {
    figures.push(...(await measure(platform)));
  } finally {
    await platform.remove();
  }
}

const file = join(repository, 'dist', 'bench', 'figures.json');
await mkdir(join(file, '..'), { recursive: true });
await writeFile(file, `${JSON.stringify({ at: new Date().toISOString(), node: process.version, figures }, null, 2)}\n`);
process.stdout.write(`${table(figures)}\n\n${file.slice(repository.length + 1)}\n`);
process.exit(figures.some((figure) => figure.reached === false) ? 1 : 0);
