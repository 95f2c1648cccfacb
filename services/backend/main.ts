import { inWordsAlone } from '../contracts/system-words.ts';
import { ownVersion } from '../kit/own-version.ts';
import { startBackend } from './start.ts';

/** The backend as a process of its own. */
const service = await startBackend(process.env, { hub: null, version: ownVersion(), log: process.stdout }).catch(
  (error: unknown) => {
    process.stderr.write(`${inWordsAlone(error)}\n`);
    process.exit(1);
  },
);

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void service.stop());
