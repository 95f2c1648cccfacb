import { installationIn } from '../../../state/installation.ts';
import { readPlan } from '../../plan-of.ts';
import { runProcessesAlone } from '../run-alone.ts';

/** Runs the bus alone where it cannot store data, and prints why that failed. */
const plan = readPlan({ ...installationIn(process.argv[2] ?? ''), dataDir: '/dev/null' });
const { signal } = new AbortController();
const of = { plan, bus: true, graph: false, env: process.env, signal };
await runProcessesAlone(of).catch((error: unknown) => process.stdout.write(String(error)));
