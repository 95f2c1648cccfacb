import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import type { Graph, WithGraph } from '../graph/graph.ts';

/** Anybody may register a client, so their number is limited. Unused ones go after a day, or when all places are taken. */
const clientsMax = 20_000;
/** Removed at once when all places are taken. */
const sliceMax = 100;
const dayMs = 24 * 60 * 60_000;
/** A client is kept this long after its last use. */
const keptMs = 90 * dayMs;

export async function addClient(
  { graph }: WithGraph,
  clientId: string,
  metadata: object,
  placesMax = clientsMax,
): Promise<void> {
  const now = Date.now();
  if ((await graph.count({ type: 'oauthClient', anchor: null, limit: 1 })) >= placesMax) await makeRoom(graph, now);
  const client = { id: newId('oauthClient'), clientId, metadata: JSON.stringify(metadata) };
  await graph.write((transaction) =>
    transaction.create('oauthClient', { ...client, expiresAt: now + dayMs, createdAt: now }),
  );
}

/**
 * Removes the oldest clients that nobody has connected. So a flood of many networks removes its own, and a person who
 * connects at once keeps theirs.
 */
async function makeRoom(graph: Graph, now: number): Promise<void> {
  const where = [{ field: 'expiresAt', below: now + dayMs }] as const;
  const unused = { type: 'oauthClient', anchor: null, where, orderBy: 'expiresAt', limit: sliceMax } as const;
  const isRoom = await graph.write(async (transaction) => {
    const { nodes } = await transaction.select(unused);
    for (const { id } of nodes) await transaction.remove('oauthClient', id, null);
    return nodes.length > 0;
  });
  if (!isRoom) throw new SvcError('unavailable', 'Too many clients are in use.');
}

/** The metadata of a registered client, or null. */
export async function findClient({ graph }: WithGraph, clientId: string): Promise<Record<string, unknown> | null> {
  const client = await graph.findBy('oauthClient', { clientId }, null);
  return client === null || client.expiresAt <= Date.now() ? null : JSON.parse(client.metadata);
}

/** A person connected an agent of this client, or the agent refreshed its token. */
export async function noteClientUse({ graph }: WithGraph, clientId: string): Promise<void> {
  const client = await graph.findBy('oauthClient', { clientId }, null);
  const expiresAt = Date.now() + keptMs;
  if (client === null || expiresAt - client.expiresAt < dayMs) return;
  await graph.write((transaction) => transaction.update('oauthClient', client.id, { expiresAt }, { anchor: null }));
}
