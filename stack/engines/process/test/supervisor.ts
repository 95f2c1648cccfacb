import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { installationIn } from '../../../state/installation.ts';
import { startTimeOf } from '../../../state/process-identity.ts';
import { readPlan } from '../../plan-of.ts';
import { runPlatform } from '../run-platform.ts';
import { programsIn } from './programs.ts';

/** Supervises the trial in this folder, with the programs of the trial, until SIGTERM. Takes the arguments of `main.ts`. */
const { values } = parseArgs({
  options: { dir: { type: 'string' }, restart: { type: 'string', multiple: true } },
  strict: false,
});
const dir = String(values.dir);
// The supervisor ends at the latest with the test.
const tester = Number(readFileSync(join(dirname(dir), 'tester.pid'), 'utf8'));
setInterval(() => {
  if (startTimeOf(tester) === null) process.exit(1);
}, 500);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
await runPlatform({
  plan: readPlan(installationIn(dir)),
  env: process.env,
  restart: new Set([values.restart ?? []].flat().map(String)),
  foreground: false,
  isWanted: () => true,
  signal: stopping.signal,
  programs: programsIn(dirname(dir)),
}).finally(() => process.exit());
