import { globSync } from 'node:fs';

/** A source file that becomes a separate file in dist/. */
export interface Entry {
  /** Relative to the repository. */
  readonly source: string;
  /** Relative to dist/, without its ending. */
  readonly output: string;
}

// Processes, workers and commands. Each command is one file, so that running it loads only what it needs.
const entryPatterns = [
  'cli/{,complete/}main.ts',
  'cli/commands/**/*.ts',
  'services/*/main.ts',
  '{services,stack}/**/*.worker.ts',
  'stack/**/main.ts',
];

/** The program of `npm start`. */
const demo: Entry = { source: 'stack/demo/start.ts', output: 'start' };

/** Entries have the same path in dist/ as in the repository. A missing folder has none. */
export function findEntries(root: string): Entry[] {
  const found = globSync(entryPatterns, { cwd: root }).filter((path) => !isTestCode(path));
  const entries = [...new Set(found)].sort().map((source) => ({ source, output: source.replace(/\.ts$/, '') }));
  return globSync(demo.source, { cwd: root }).length === 0 ? entries : [...entries, demo];
}

export function isTestCode(path: string): boolean {
  return /\.(test|contract)\.tsx?$/.test(path) || path.split('/').includes('test');
}
