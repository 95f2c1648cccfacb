import { newId, type OauthRecordId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { removeTokensOfGrant } from '../accounts/remove-grant.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import { pageMax } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';

/** Strangers begin interactions. Each lasts ten minutes, or until that many later ones have begun. */
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
  readonly #interactionsMax: number;
  #untilCounted = 0;

  constructor(backend: RecordNeeds, placesMax = interactionsMax) {
    this.#backend = backend;
    this.#interactionsMax = placesMax;
  }

  /** False if the grant of the record is gone. */
  async keep({ kind, id, payload, grant, expiresAt }: RecordToKeep): Promise<boolean> {
    const { graph, secrets } = this.#backend;
    if (kind === 'Interaction') await this.#makeRoom();
    return await graph.write(async (transaction) => {
      const ofGrant = grant === undefined ? null : await findRecord(transaction, secrets, { kind: 'Grant', id: grant });
      if (grant !== undefined && ofGrant === null) return false;
      const known = await findRecord(transaction, secrets, { kind, id });
      const node = known?.id ?? newId('oauthRecord');
      const text = secrets.encrypt(new Secret(JSON.stringify(payload)), { node, field: 'payload' });
      if (known !== null) {
        await transaction.update('oauthRecord', node, { payload: text, expiresAt }, { anchor: null });
        return true;
      }
      await transaction.create('oauthRecord', {
        ...{ id: node, kind, digest: secrets.digest(nameOf({ kind, id })), payload: text, expiresAt, consumedAt: null },
        grant: ofGrant?.id ?? null,
      });
      if (ofGrant !== null) await forgetOldest(transaction, ofGrant.id);
      return true;
    });
  }

  /** Null for an unknown or expired record. */
  async find(name: RecordName): Promise<StoredRecord | null> {
    const { graph, secrets } = this.#backend;
    const node = await findRecord(graph, secrets, name);
    if (node === null || node.expiresAt <= Date.now()) return null;
    const payload = JSON.parse(secrets.decrypt(node.payload, { node: node.id, field: 'payload' }).reveal());
    return { payload, expiresAt: node.expiresAt, consumedAt: node.consumedAt };
  }

  /** False if the record was consumed before. Of several backends, one consumes it. */
  async consume(name: RecordName): Promise<boolean> {
    const isConsumed = await this.#change(name, async (transaction, { id, consumedAt }) => {
      if (consumedAt !== null) return false;
      await transaction.update('oauthRecord', id, { consumedAt: Date.now() }, { anchor: null });
      return true;
    });
    return isConsumed ?? false;
  }

  async extend(name: RecordName, expiresAt: number): Promise<void> {
    await this.#change(name, async (transaction, { id }) => {
      await transaction.update('oauthRecord', id, { expiresAt }, { anchor: null });
    });
  }

  /** A grant goes with its codes and tokens. */
  async remove(name: RecordName): Promise<void> {
    await this.#change(name, async (transaction, { id }) => {
      if (name.kind === 'Grant') await removeTokensOfGrant(transaction, id);
      await transaction.remove('oauthRecord', id, null);
    });
  }

  async removeTokens(grant: string): Promise<void> {
    await this.#change({ kind: 'Grant', id: grant }, (transaction, { id }) => removeTokensOfGrant(transaction, id));
  }

  /** Undefined without such a record. */
  #change<Result>(
    name: RecordName,
    change: (transaction: Transaction, record: Node<'oauthRecord'>) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { graph, secrets } = this.#backend;
    return graph.write(async (transaction) => {
      const record = await findRecord(transaction, secrets, name);
      return record === null ? undefined : await change(transaction, record);
    });
  }

  /** A flood of many networks removes its own oldest interactions. One that a person answers at once stays. */
  async #makeRoom(): Promise<void> {
    if (this.#untilCounted-- > 0) return;
    this.#untilCounted = countedEvery;
    const where = [{ field: 'kind', equals: 'Interaction' }] as const;
    const all = { type: 'oauthRecord', anchor: null, where, limit: countedEvery } as const;
    if ((await this.#backend.graph.count(all)) < this.#interactionsMax) return;
    await this.#backend.graph.write(async (transaction) => {
      const { nodes } = await transaction.select({ ...all, orderBy: 'expiresAt' });
      for (const { id } of nodes) await transaction.remove('oauthRecord', id, null);
    });
  }
}

/** In any state. */
export async function findRecord(
  graph: Pick<Transaction, 'findBy'>,
  secrets: WithSecrets['secrets'],
  name: RecordName,
): Promise<Node<'oauthRecord'> | null> {
  for (const digest of secrets.digests(nameOf(name))) {
    const node = await graph.findBy('oauthRecord', { digest }, null);
    if (node !== null) return node;
  }
  return null;
}

/** An agent that refreshes in a loop takes no more place than others. */
async function forgetOldest(transaction: Transaction, grant: OauthRecordId): Promise<void> {
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
