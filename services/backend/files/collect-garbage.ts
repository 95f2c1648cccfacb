import type { Subscription } from '../../kit/bus/bus.ts';
import type { WithLog } from '../bus/with-bus.ts';
import type { WithGraph } from '../graph/graph.ts';
import type { WithBlobs } from './blobs.ts';
import { removeUnused } from './keep-blobs.ts';

const everyMs = 10 * 60_000;

/** Removes from time to time what no file uses any more. Several backends may do so at once. */
export function collectGarbage(backend: WithGraph & WithBlobs & WithLog): Subscription {
  const logger = backend.log('files');
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= removeUnused(backend, { now: Date.now(), signal: stopping.signal })
      .catch((thrown: unknown) => logger.warn({ err: thrown }, 'could not remove unused files, and will try again'))
      .finally(() => {
        running = null;
      });
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
