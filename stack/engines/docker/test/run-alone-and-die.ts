import { installationIn } from '../../../state/installation.ts';
import { readPlan } from '../../plan-of.ts';
import { prepareDaemon } from '../prepared-daemon.ts';
import { runContainersAlone } from '../run-alone.ts';

/** Runs the bus alone and is killed while the bus runs. */
const plan = readPlan(installationIn(process.argv[2] ?? ''));
const { signal } = new AbortController();
const of = { installation: plan.installation, env: process.env, signal, onNotice: () => undefined };
await runContainersAlone({
  plan,
  daemon: await prepareDaemon({ ...of, plans: [plan] }),
  bus: true,
  graph: false,
  signal,
});
process.kill(process.pid, 'SIGKILL');
