import { type Digest, findDigest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import { type Id, newId } from '../../contracts/ids.ts';
import { everyPage } from '../graph/every-page.ts';
import { type Graph, type Node, pageMax, type Transaction } from '../graph/graph.ts';
import type { Blobs } from './blobs.ts';

/**
 * The graph decides which blobs are kept: putting, using and removing the same bytes meet at one node. A reserved blob
 * is not removed for `graceMs`, longer than any request takes (30 s). A leaving blob cannot be reserved until it is
 * gone, bytes first.
 */
export const graceMs = 10 * 60_000;

/** Called before the bytes are put. Throws `conflict` while the same bytes are being removed. */
export async function reserveBlob(graph: Pick<Graph, 'write'>, digest: Digest): Promise<void> {
  await graph.write(async (transaction) => {
    const blob = await transaction.findBy('blob', { digest }, null);
    if (blob === null) await transaction.create('blob', newBlob(digest));
    else await touch(transaction, blob);
  });
}

/** Called when a file begins to use the blob. */
export async function useBlob(transaction: Transaction, digest: Digest): Promise<Id<'blob'>> {
  const blob = await transaction.findBy('blob', { digest }, null);
  if (blob === null) throw beingRemoved();
  return (await touch(transaction, blob)).id;
}

/** Removes bytes that no file uses any more, and unfinished puts. `now` is the current time. */
export async function removeUnused(
  { graph, blobs }: { readonly graph: Graph; readonly blobs: Blobs },
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<void> {
  const before = now - graceMs;
  const where = [{ field: 'touchedAt', below: before }] as const;
  for await (const page of everyPage(graph, { type: 'blob', anchor: null, where, limit: pageMax })) {
    const users = await usersOf(graph, page);
    for (const { id, digest } of page) {
      if (signal.aborted) return;
      const known = findDigest(digest);
      if (known === null || (users.get(id) ?? []).length > 0 || !(await letGo(graph, id, { before, now }))) continue;
      await blobs.remove(known);
      await graph.write((transaction) => transaction.remove('blob', id, null));
    }
  }
  if (signal.aborted) return;
  await adoptUnknown(graph, blobs, now);
  await blobs.removeUnfinished(before);
}

/** False if another process was faster: it uses the blob, or removes it. Nothing waits for a dead remover. */
async function letGo(
  graph: Graph,
  id: Id<'blob'>,
  { before, now }: { readonly before: number; readonly now: number },
): Promise<boolean> {
  return await graph.write(async (transaction) => {
    const blob = await transaction.find('blob', id, null);
    if (blob === null || blob.touchedAt >= before) return false;
    if (((await usersOf(transaction, [blob])).get(id) ?? []).length > 0) return false;
    await transaction.update('blob', id, { leaving: true, touchedAt: now }, { anchor: null });
    return true;
  });
}

/** Bytes unknown to the graph, as after a restore from a backup, stay as long as new ones. */
async function adoptUnknown(graph: Graph, blobs: Blobs, now: number): Promise<void> {
  for await (const digests of inBatches(blobs.list())) {
    const where = [{ field: 'digest', in: digests }] as const;
    const { nodes } = await graph.select({ type: 'blob', anchor: null, where, limit: batchMax });
    const known = new Set(nodes.map(({ digest }) => digest));
    for (const digest of digests) {
      if (known.has(digest)) continue;
      await graph.write(async (transaction) => {
        if ((await transaction.findBy('blob', { digest }, null)) === null) {
          await transaction.create('blob', newBlob(digest, now));
        }
      });
    }
  }
}

const batchMax = 100;

async function* inBatches(digests: AsyncIterable<Digest>): AsyncGenerator<readonly Digest[]> {
  let batch: Digest[] = [];
  for await (const digest of digests) {
    batch.push(digest);
    if (batch.length < batchMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function usersOf(graph: Pick<Graph, 'followBack'>, blobs: readonly Node<'blob'>[]) {
  const options = { anchor: 'everywhere', limitEach: 1 } as const;
  return graph.followBack(
    { from: 'file', edge: 'content' },
    blobs.map(({ id }) => id),
    options,
  );
}

async function touch(transaction: Transaction, { id, leaving }: Node<'blob'>): Promise<Node<'blob'>> {
  if (leaving) throw beingRemoved();
  return await transaction.update('blob', id, { touchedAt: Date.now() }, { anchor: null });
}

function newBlob(digest: Digest, touchedAt = Date.now()) {
  return { id: newId('blob'), digest, touchedAt, leaving: false };
}

function beingRemoved(): SvcError {
  return new SvcError('conflict', 'The same bytes, which no file used any more, are being removed now.', {
    hint: 'Send them again in a while.',
  });
}
