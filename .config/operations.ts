import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { typedOperations } from './operations/typed-operations.ts';

/**
 * `npm run operations`: regenerates the types and texts of the GraphQL operations. `npm run check` fails while they are
 * stale.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
try {
  for (const [path, text] of await typedOperations(root)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
