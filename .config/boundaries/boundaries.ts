import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cycleViolations } from './cycles.ts';
import { nameViolations } from './file-names.ts';
import { floorViolations } from './floors.ts';
import { importViolations } from './import-table.ts';
import { literalViolations } from './page-literals.ts';
import { processViolations } from './process-use.ts';
import { readSourceFile } from './source-file.ts';
import type { Violation } from './violation.ts';

/** Every violation of the architecture's boundaries in cli, stack, services and templates. */
export function boundaryViolations(root: string): Violation[] {
  const paths = globSync('{cli,stack,services,templates}/**/*', { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|cjs|mjs|js)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const files = paths.map((path) => readSourceFile(root, path));
  const packages = packagesOf(root);
  return [
    ...files.flatMap((file) => [
      ...nameViolations(file.path),
      ...importViolations(file, packages),
      ...floorViolations(file),
      ...processViolations(file),
    ]),
    ...cycleViolations(files),
    ...literalViolations(root),
  ];
}

function packagesOf(root: string): ReadonlySet<string> {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
}
