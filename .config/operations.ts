import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedFile, typedOperations } from './operations/typed-operations.ts';

/**
 * `npm run operations`: regenerates the types and texts of the GraphQL operations. `npm run check` fails while they are
 * stale.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
try {
  writeFileSync(join(root, generatedFile), await typedOperations(root));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
