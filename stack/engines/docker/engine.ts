import type { Engine } from '../engine.ts';
import { bringUpContainers } from './bring-up.ts';
import { connectToDaemon } from './daemon.ts';
import { downContainers } from './down.ts';
import { containerLogSources } from './log-sources.ts';
import { statusOfContainers } from './status.ts';

/** Each part in a container. Its image brings the program that it runs. */
export const dockerEngine: Engine = {
  async check(_, env) {
    await connectToDaemon(env);
    return [];
  },
  // Docker listens there by itself.
  checkPorts: async () => undefined,
  up: bringUpContainers,
  down: ({ installation, onProgress }) =>
    downContainers(installation, (name, state) => onProgress({ kind: 'service', name, state })),
  status: statusOfContainers,
  logs: containerLogSources,
};
