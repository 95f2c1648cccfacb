import { installationIn } from '../../../state/installation.ts';
import { readPlan } from '../../plan-of.ts';
import { runProcessesAlone } from '../run-alone.ts';

/** Runs the bus alone where it cannot store data, and prints why that failed. */
const plan = readPlan(installationIn(process.argv[2] ?? ''));
const { signal } = new AbortController();
const of = { plan, busDir: '/dev/null', graphDir: null, env: process.env, signal };
await runProcessesAlone(of).catch((error: unknown) => process.stdout.write(String(error)));
