import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { svcFile } from './run-svc.ts';

/** A device that is always full. */
const fullDevice = '/dev/full';

test.skipIf(!existsSync(fullDevice))('an unwritable result is an error of one line', async () => {
  const child = spawn(process.execPath, [svcFile, 'help'], { stdio: ['ignore', openSync(fullDevice, 'w'), 'pipe'] });
  const exit = new Promise((resolve) => child.once('close', resolve));
  const told = child.stderr === null ? '' : await text(child.stderr);
  expect(told).toBe('Error: The result could not be written to stdout: no space is left on the disk.\n');
  expect(await exit).toBe(1);
});
