import { inWordsAlone } from '../contracts/system-words.ts';
import { ownVersion } from '../kit/own-version.ts';
import { startFrontend } from './start.ts';

/** The frontend as a process of its own. */
const service = await startFrontend(process.env, { hub: null, version: ownVersion(), log: process.stdout }).catch(
  (error: unknown) => {
    process.stderr.write(`${inWordsAlone(error)}\n`);
    process.exit(1);
  },
);

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void service.stop());
