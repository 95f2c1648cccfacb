import { globSync } from 'node:fs';

/** A source file that becomes a file of its own in dist/. */
export interface Entry {
  /** Relative to the repository. */
  readonly source: string;
  /** Relative to dist/, without its ending. */
  readonly output: string;
}

// Processes, workers, and commands: one file for each command, so that running one loads only what it needs.
const entryPatterns = [
  'cli/main.ts',
  'cli/commands/**/*.ts',
  'services/*/main.ts',
  '{services,stack}/**/*.worker.ts',
  'stack/**/main.ts',
];

/** What `npm start` runs. */
const demo: Entry = { source: 'stack/demo/start.ts', output: 'start' };

/** Entries lie in dist/ where their source lies in the repository. A folder that is not there has none. */
export function findEntries(root: string): Entry[] {
  const found = globSync(entryPatterns, { cwd: root }).filter((path) => !isTestCode(path));
  const entries = [...new Set(found)].sort().map((source) => ({ source, output: source.replace(/\.ts$/, '') }));
  return globSync(demo.source, { cwd: root }).length === 0 ? entries : [...entries, demo];
}

export function isTestCode(path: string): boolean {
  return /\.(test|contract)\.ts$/.test(path) || path.split('/').includes('test');
}
