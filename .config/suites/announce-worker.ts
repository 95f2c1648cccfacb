import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { workersFolderVariable } from './journal.ts';

// vitest loads it in each worker before its suite. It writes the worker's process id where the runner finds it, so that
// the runner can end a suite that blocks its event loop, without the other suites.
const folder = process.env[workersFolderVariable];
const suite = expect.getState().testPath;
if (folder !== undefined && suite !== undefined)
  writeFileSync(join(folder, encodeURIComponent(suite)), String(process.pid));
