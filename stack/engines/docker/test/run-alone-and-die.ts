import { installationIn } from '../../../state/installation.ts';
import { readPlan } from '../../plan-of.ts';
import { connectToOwnDaemon } from '../own-daemon.ts';
import { runContainersAlone } from '../run-alone.ts';

/** Runs the bus alone and is killed while the bus runs. */
const plan = readPlan(installationIn(process.argv[2] ?? ''));
const daemon = await connectToOwnDaemon(plan.installation, process.env);
const { signal } = new AbortController();
await runContainersAlone({ plan, daemon, bus: true, graph: false, signal });
process.kill(process.pid, 'SIGKILL');
