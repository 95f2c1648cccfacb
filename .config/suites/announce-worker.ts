import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { workersFolderVariable } from './journal.ts';

// vitest loads it in each worker before its suite. It writes the worker's process id to a file for the runner. The
// runner can then end a suite that blocks its event loop, and no other suite.
const folder = process.env[workersFolderVariable];
const suite = expect.getState().testPath;
if (folder !== undefined && suite !== undefined)
  writeFileSync(join(folder, encodeURIComponent(suite)), String(process.pid));
