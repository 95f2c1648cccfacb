import { installationIn } from '../../../state/installation.ts';
import { readPlan } from '../../plan-of.ts';
import { runPlatform } from '../run-platform.ts';
import { programsIn } from './programs.ts';

/** Supervises the trial in this folder until it is killed. */
const [dir = '', installation = ''] = process.argv.slice(2);
// Ends at the latest with the test.
process.stdin.on('end', () => process.exit(1)).resume();
await runPlatform({
  plan: readPlan(installationIn(installation)),
  env: process.env,
  foreground: false,
  isWanted: () => true,
  signal: new AbortController().signal,
  programs: programsIn(dir),
});
