import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTestCode } from './bundle/entries.ts';
import { textsOf } from './words/texts-of.ts';

/** `npm run words [FOLDER…]`: prints every text that people may read in messages, hints and help, with its file and line. */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folders = process.argv.length > 2 ? process.argv.slice(2) : ['cli', 'stack', 'services'];
for (const path of folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root })).sort()) {
  if (isTestCode(path) || path.includes('/generated/')) continue;
  for (const { line, words } of textsOf(readFileSync(join(root, path), 'utf8'))) {
    process.stdout.write(`${path}:${line}  ${words}\n`);
  }
}
