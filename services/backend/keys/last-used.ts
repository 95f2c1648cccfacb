import type { KeyId, WorkspaceId } from '../../contracts/ids.ts';
import type { WithLog } from '../bus/with-bus.ts';
import type { Transaction, WithGraph } from '../graph/graph.ts';

/** One use of a key. */
export interface KeyUse {
  readonly key: KeyId;
  readonly workspace: WorkspaceId;
  readonly at: number;
}

/**
 * Writes when keys were last used, soon after and outside of the request (specification part 2, "Identity key usage
 * record").
 */
export interface LastUsed {
  note(use: KeyUse): void;
  /** Resolves when all noted uses are written. */
  stop(): Promise<void>;
}

/** Keys written in one transaction. */
const sliceMax = 50;
/** Keys remembered, so that a busy one does not cause reads of the graph; forgetting the oldest costs one read. */
const rememberedMax = 20_000;
/** Keys that may wait to be written. Further uses are dropped, because the next use carries the same information. */
const waitingMax = 20_000;

export function openLastUsed(backend: WithGraph & WithLog, throttleMs: number): LastUsed {
  const written = new Map<KeyId, number>();
  const waiting = new Map<KeyId, KeyUse>();
  let writing: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    while (waiting.size > 0) {
      const slice = [...waiting.values()].slice(0, sliceMax);
      for (const { key } of slice) waiting.delete(key);
      try {
        await backend.graph.write((transaction) => writeSlice(transaction, slice, throttleMs));
        for (const use of slice) remember(use);
      } catch (error) {
        backend.log('keys').warn({ err: error, keys: slice.length }, 'failed to write last uses');
      }
    }
  }

  function remember({ key, at }: KeyUse): void {
    written.delete(key);
    written.set(key, at);
    if (written.size > rememberedMax) written.delete(written.keys().next().value ?? key);
  }

  return {
    note(use) {
      const before = waiting.get(use.key)?.at ?? written.get(use.key);
      if (before !== undefined && isFresh(before, use.at, throttleMs)) return;
      if (waiting.size >= waitingMax && !waiting.has(use.key)) return;
      waiting.set(use.key, use);
      writing ??= writeAll().finally(() => {
        writing = null;
      });
    },
    async stop() {
      await writing;
    },
  };
}

/** Several backends may have noted the same key: the timestamp in the graph decides. */
async function writeSlice(transaction: Transaction, uses: readonly KeyUse[], throttleMs: number): Promise<void> {
  for (const { key, workspace, at } of uses) {
    const known = await transaction.find('key', key, workspace);
    if (known === null || (known.lastUsedAt !== null && isFresh(known.lastUsedAt, at, throttleMs))) continue;
    // The first use of a key that was used before this field existed stays unknown.
    const first = known.lastUsedAt === null ? { firstUsedAt: at } : {};
    // A use must not make a change of the key by a person outdated.
    await transaction.update('key', key, { ...first, lastUsedAt: at }, { anchor: workspace, keepsVersion: true });
  }
}

/** A timestamp is rewritten at most once in a period, and never set back. */
function isFresh(before: number, at: number, throttleMs: number): boolean {
  return at <= before || at - before < throttleMs;
}
