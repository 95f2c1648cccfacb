import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { workersFolderVariable } from './journal.ts';

// Loaded by vitest in each worker before its suite: leaves the worker's process id where the runner finds it, so that
// a suite that blocks its own event loop can be ended without the suites beside it.
const folder = process.env[workersFolderVariable];
const suite = expect.getState().testPath;
if (folder !== undefined && suite !== undefined)
  writeFileSync(join(folder, encodeURIComponent(suite)), String(process.pid));
