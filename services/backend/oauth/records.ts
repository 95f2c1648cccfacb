import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { pageMax } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';

/** Strangers begin interactions. Each lasts ten minutes. */
const interactionsMax = 50_000;
/** The number of interactions is read once for this many new ones. */
const countedEvery = 200;
/** Concurrent refreshes need a few. The reuse of an older token is refused as an unknown one. */
const recordsOfGrantMax = 32;

export type RecordNeeds = WithGraph & WithSecrets;

export interface StoredRecord {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly expiresAt: number;
  readonly consumedAt: number | null;
}

export interface RecordName {
  /** The model of oidc-provider, such as RefreshToken. */
  readonly kind: string;
  readonly id: string;
}

export interface RecordToKeep extends RecordName {
  readonly payload: object;
  readonly grant: string | undefined;
  readonly expiresAt: number;
}

/**
 * The records of the authorization server in the graph. Their ids are secrets of clients, so the graph has digests of
 * them, and their contents are encrypted.
 */
export class Records {
  readonly #backend: RecordNeeds;
  #untilCounted = 0;

  constructor(backend: RecordNeeds) {
    this.#backend = backend;
  }

  async keep({ kind, id, payload, grant, expiresAt }: RecordToKeep): Promise<void> {
    const { graph, secrets } = this.#backend;
    if (kind === 'Interaction') await this.#requireRoom();
    const ofGrant = grant === undefined ? null : secrets.fingerprint(nameOf({ kind: 'Grant', id: grant }));
    await graph.write(async (transaction) => {
      const known = await this.#find(transaction, { kind, id });
      const node = known?.id ?? newId('oauthRecord');
      const text = secrets.encrypt(new Secret(JSON.stringify(payload)), { node, field: 'payload' });
      if (known !== null) {
        await transaction.update('oauthRecord', node, { payload: text, expiresAt }, { anchor: null });
        return;
      }
      await transaction.create('oauthRecord', {
        ...{ id: node, kind, digest: secrets.digest(nameOf({ kind, id })), payload: text, expiresAt, consumedAt: null },
        grant: ofGrant,
      });
      if (ofGrant !== null) await forgetOldest(transaction, ofGrant);
    });
  }

  /** Null for an unknown or expired record. */
  async find(name: RecordName): Promise<StoredRecord | null> {
    const { graph, secrets } = this.#backend;
    const node = await this.#find(graph, name);
    if (node === null || node.expiresAt <= Date.now()) return null;
    const payload = JSON.parse(secrets.decrypt(node.payload, { node: node.id, field: 'payload' }).reveal());
    return { payload, expiresAt: node.expiresAt, consumedAt: node.consumedAt };
  }

  /** False if the record was consumed before. Of several backends, one consumes it. */
  async consume(name: RecordName): Promise<boolean> {
    return await this.#backend.graph.write(async (transaction) => {
      const node = await this.#find(transaction, name);
      if (node === null || node.consumedAt !== null) return false;
      await transaction.update('oauthRecord', node.id, { consumedAt: Date.now() }, { anchor: null });
      return true;
    });
  }

  async extend(name: RecordName, expiresAt: number): Promise<void> {
    await this.#backend.graph.write(async (transaction) => {
      const node = await this.#find(transaction, name);
      if (node !== null) await transaction.update('oauthRecord', node.id, { expiresAt }, { anchor: null });
    });
  }

  async remove(name: RecordName): Promise<void> {
    await this.#backend.graph.write(async (transaction) => {
      const node = await this.#find(transaction, name);
      if (node !== null) await transaction.remove('oauthRecord', node.id, null);
    });
  }

  /** Removes the codes and tokens of a grant. */
  async removeOfGrant(grant: string): Promise<void> {
    const { graph, secrets } = this.#backend;
    const where = [{ field: 'grant', equals: secrets.fingerprint(nameOf({ kind: 'Grant', id: grant })) }] as const;
    await graph.write(async (transaction) => {
      const { nodes } = await transaction.select({ type: 'oauthRecord', anchor: null, where, limit: pageMax });
      for (const { id } of nodes) await transaction.remove('oauthRecord', id, null);
    });
  }

  async #find(graph: Pick<Transaction, 'findBy'>, name: RecordName): Promise<Node<'oauthRecord'> | null> {
    for (const digest of this.#backend.secrets.digests(nameOf(name))) {
      const node = await graph.findBy('oauthRecord', { digest }, null);
      if (node !== null) return node;
    }
    return null;
  }

  async #requireRoom(): Promise<void> {
    if (this.#untilCounted-- > 0) return;
    const where = [{ field: 'kind', equals: 'Interaction' }] as const;
    const count = await this.#backend.graph.count({ type: 'oauthRecord', anchor: null, where, limit: 1 });
    if (count >= interactionsMax) throw new SvcError('unavailable', 'Too many agents are signing in now.');
    this.#untilCounted = countedEvery;
  }
}

/** An agent that refreshes in a loop takes no more place than others. */
async function forgetOldest(transaction: Transaction, grant: string): Promise<void> {
  const where = [{ field: 'grant', equals: grant }] as const;
  const { nodes } = await transaction.select({ type: 'oauthRecord', anchor: null, where, limit: pageMax });
  for (const { id } of nodes.slice(0, Math.max(0, nodes.length - recordsOfGrantMax))) {
    await transaction.remove('oauthRecord', id, null);
  }
}

/** The kind too: a refresh token is no code. */
function nameOf({ kind, id }: RecordName): Secret {
  return new Secret(`oauth ${kind} ${id}`);
}
