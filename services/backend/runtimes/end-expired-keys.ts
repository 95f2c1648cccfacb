import { type KeyId, parseId } from '../../contracts/ids.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import type { WithBus, WithLog } from '../bus/with-bus.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import type { Turns } from './turns.ts';

type KeyExpiryNeeds = WithGraph & WithBus & WithLog;

/** A replaced key stays valid for hours, so its end is known long before. */
const lookEveryMs = 15_000;
const pageMax = 200;

/**
 * Ends the connections of a runtime key when it expires; the expiry itself only refuses new ones. Every backend does
 * so; a key that expired while none ran is handled when one starts.
 */
export function endExpiredKeys(backend: KeyExpiryNeeds, turns: Turns): Subscription {
  const logger = backend.log('runtimes');
  const timers = new Map<KeyId, NodeJS.Timeout>();
  let ended: ReadonlySet<KeyId> = new Set();

  function look(): void {
    turns.take('expired keys', endAll).catch((err: unknown) => logger.warn({ err }, 'failed to end expired keys'));
  }

  async function endAll(): Promise<void> {
    const endedNow = new Set<KeyId>();
    for await (const keys of everyPage(backend.graph, { type: 'runtimeKey', anchor: null, limit: pageMax })) {
      for (const key of keys) if (await endInTime(key)) endedNow.add(key.id);
    }
    ended = endedNow;
  }

  /** True once its connections have ended. */
  async function endInTime(key: Node<'runtimeKey'>): Promise<boolean> {
    if (key.expiresAt === null) return false;
    if (ended.has(key.id)) return true;
    const waitMs = key.expiresAt - Date.now();
    if (waitMs > 0) {
      if (waitMs < 2 * lookEveryMs) lookIn(waitMs, key.id);
      return false;
    }
    timers.delete(key.id);
    await backend.bus.disconnect(parseId('runtime', key.runtime), { key: key.id });
    logger.info({ runtime: key.runtime, key: key.id }, 'ended the connections of an expired key');
    return true;
  }

  function lookIn(waitMs: number, key: KeyId): void {
    clearTimeout(timers.get(key));
    timers.set(key, setTimeout(look, waitMs).unref());
  }

  look();
  const looking = setInterval(look, lookEveryMs);
  looking.unref();
  return {
    async stop() {
      clearInterval(looking);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
