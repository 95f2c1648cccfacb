import { readPlan } from '../../engines/plan-of.ts';
import { ownPrograms } from '../../engines/process/process-plan.ts';
import { runPlatform } from '../../engines/process/run-platform.ts';
import { installationIn } from '../../state/installation.ts';

/** The process that `svc up` leaves running, except for the Node of the services. */
const [dir = '', node = ''] = process.argv.slice(2);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
await runPlatform({
  plan: readPlan(installationIn(dir)),
  env: process.env,
  foreground: false,
  isWanted: () => true,
  signal: stopping.signal,
  programs: { ...ownPrograms(process.env), node },
});
