import { ownVersion } from '../kit/own-version.ts';
import { whyUnstarted } from '../kit/why-unstarted.ts';
import { startRemoteMcp } from './start.ts';

/** remote-mcp as a separate process. */
const surroundings = { hub: null, version: ownVersion(), log: process.stdout };
const service = await startRemoteMcp(process.env, surroundings).catch((error: unknown) => {
  process.stderr.write(`${whyUnstarted(error)}\n`);
  process.exit(1);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => void service.stop().then(() => process.exit(0)));
