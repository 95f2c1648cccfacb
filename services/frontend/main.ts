import { ownVersion } from '../kit/own-version.ts';
import { whyUnstarted } from '../kit/why-unstarted.ts';
import { startFrontend } from './start.ts';

/** The frontend as a separate process. */
const surroundings = { hub: null, version: ownVersion(), log: process.stdout };
const service = await startFrontend(process.env, surroundings).catch((error: unknown) => {
  process.stderr.write(`${whyUnstarted(error)}\n`);
  process.exit(1);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void service.stop());
