import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import type { WithGraph } from '../graph/graph.ts';

/** Anybody may register a client, so their number is limited. Unused ones go after a day. */
const clientsMax = 20_000;
const dayMs = 24 * 60 * 60_000;
/** A client is kept this long after its last use. */
const keptMs = 90 * dayMs;

export async function addClient({ graph }: WithGraph, clientId: string, metadata: object): Promise<void> {
  if ((await graph.count({ type: 'oauthClient', anchor: null, limit: 1 })) >= clientsMax) {
    throw new SvcError('unavailable', 'Too many clients have registered today.');
  }
  const now = Date.now();
  const client = { id: newId('oauthClient'), clientId, metadata: JSON.stringify(metadata) };
  await graph.write((transaction) =>
    transaction.create('oauthClient', { ...client, expiresAt: now + dayMs, createdAt: now }),
  );
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
