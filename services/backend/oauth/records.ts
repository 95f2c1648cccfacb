import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { pageMax } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';

/** Codes, refresh tokens, grants and interactions of all persons together. Expired ones are removed regularly. */
const recordsMax = 200_000;
/** The number of records is read once for this many new ones. */
const countedEvery = 200;

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
    await this.#requireRoom();
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
        grant: grant === undefined ? null : secrets.fingerprint(nameOf({ kind: 'Grant', id: grant })),
      });
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
    const count = await this.#backend.graph.count({ type: 'oauthRecord', anchor: null, limit: 1 });
    if (count >= recordsMax) throw new SvcError('unavailable', 'Too many agents are signing in now.');
    this.#untilCounted = countedEvery;
  }
}

/** The kind too: a refresh token is no code. */
function nameOf({ kind, id }: RecordName): Secret {
  return new Secret(`oauth ${kind} ${id}`);
}
