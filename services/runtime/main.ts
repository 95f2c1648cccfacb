import { ownVersion } from '../kit/own-version.ts';
import { whyUnstarted } from '../kit/why-unstarted.ts';
import { startRuntime } from './start.ts';

/** The runtime as a separate process. A second signal ends it at once; its MCP servers end because their input closes. */
const surroundings = { hub: null, version: ownVersion(), log: process.stdout };
const service = await startRuntime(process.env, surroundings).catch((error: unknown) => {
  process.stderr.write(`${whyUnstarted(error)}\n`);
  process.exit(1);
});

let asked = false;
const end = () => {
  if (asked) process.exit(130);
  asked = true;
  void service.stop().then(() => process.exit(0));
};
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
