import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isTestCode } from './entries.ts';

const sourcePatterns = [
  '{cli,stack,services,templates}/**/*',
  '.config/build.ts',
  '.config/bundle/*',
  'package.json',
  'package-lock.json',
];

// Beside the installed packages: it disappears with them, and is neither in git nor in the tarball.
const recordFile = 'node_modules/.cache/svc/build.json';

interface BuildRecord {
  readonly fingerprint: string;
  readonly files: readonly string[];
}

/** A hash over all inputs of a build. The address of the backend is compiled into the pages. */
export function fingerprintOf(root: string, backendUrl = ''): string {
  const hash = createHash('sha256').update(`${backendUrl}\0`);
  const files = globSync(sourcePatterns, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !isTestCode(path));
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/** True if the last build read the same sources and all its outputs still exist. */
export function isCurrent(root: string, fingerprint: string): boolean {
  const record = readRecord(root);
  return record?.fingerprint === fingerprint && record.files.every((file) => existsSync(join(root, file)));
}

export function recordBuild(root: string, record: BuildRecord): void {
  mkdirSync(dirname(join(root, recordFile)), { recursive: true });
  writeFileSync(join(root, recordFile), JSON.stringify(record));
}

function readRecord(root: string): BuildRecord | null {
  try {
    return JSON.parse(readFileSync(join(root, recordFile), 'utf8')) as BuildRecord;
  } catch {
    return null;
  }
}
