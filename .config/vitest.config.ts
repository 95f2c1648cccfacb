import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './suites/longest-first.ts';

const here = dirname(fileURLToPath(import.meta.url));
const every = '{cli,stack,services,templates,.config,.ci}/**/*.test.ts';
/**
 * Suites that disturb others or are disturbed by them. They flood a platform, restart Docker, or measure how fast an
 * agent is answered during an attack. They run one at a time, after all others: beside them, a platform waits for a core.
 */
const alone = '**/*.alone.test.ts';

export default defineConfig({
  root: dirname(here),
  // The build of graphql that Node gives to packages. A second build would refuse the types of the first.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    projects: [
      { extends: true, test: { name: 'together', include: [every], exclude: [...configDefaults.exclude, alone] } },
      { extends: true, test: { name: 'alone', include: [alone], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
    environment: 'node',
    sequence: { sequencer: LongestFirst },
    setupFiles: ['announce-worker', 'own-state-home'].map((name) => join(here, 'suites', `${name}.ts`)),
    // A process for each file, so that a suite that crashes or leaks does not affect others, and tests can send real
    // signals.
    pool: 'forks',
    // One more than there are cores: a suite that waits for processes leaves its core idle half of the time.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // Most tests take milliseconds; those that start processes on a busy machine need seconds.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    allowOnly: false,
    // A run ends with the messages of the failed tests. Short ones would leave out the wrong value.
    chaiConfig: { truncateThreshold: 400 },
  },
});
