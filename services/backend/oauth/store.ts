import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { addClient, findClient } from './clients.ts';
import { disconnectGrant } from './connected-agents.ts';
import type { OauthNeeds } from './oauth-needs.ts';
import type { Records } from './records.ts';

/** Clients refresh concurrently, and an answer may be lost: a refresh token can be used again for this long. */
const graceMs = 30_000;
const secondMs = 1000;
/** Models without an expiry of their own. None is used today. */
const usualSeconds = 600;

/** oidc-provider's storage in our graph. */
export function createStore(backend: OauthNeeds, records: Records): (model: string) => Adapter {
  return (model) => {
    if (model === 'Client') return new ClientStore(backend);
    return model === 'Session' ? new NoSessions() : new RecordStore(backend, records, model);
  };
}

const nothing = async (): Promise<undefined> => undefined;

class ClientStore implements Adapter {
  readonly #backend: OauthNeeds;
  readonly findByUserCode = nothing;
  readonly findByUid = nothing;
  readonly consume = nothing;
  readonly destroy = nothing;
  readonly revokeByGrantId = nothing;

  constructor(backend: OauthNeeds) {
    this.#backend = backend;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    await addClient(this.#backend, id, payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return (await findClient(this.#backend, id)) ?? undefined;
  }
}

/** The person's session is ours (`accounts/`). A second one, of oidc-provider, could outlive it. */
class NoSessions implements Adapter {
  readonly upsert = nothing;
  readonly find = nothing;
  readonly findByUserCode = nothing;
  readonly findByUid = nothing;
  readonly consume = nothing;
  readonly destroy = nothing;
  readonly revokeByGrantId = nothing;
}

class RecordStore implements Adapter {
  readonly #backend: OauthNeeds;
  readonly #records: Records;
  readonly #kind: string;
  readonly findByUserCode = nothing;
  readonly findByUid = nothing;

  constructor(backend: OauthNeeds, records: Records, kind: string) {
    this.#backend = backend;
    this.#records = records;
    this.#kind = kind;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn = usualSeconds): Promise<void> {
    const expiresAt = Date.now() + expiresIn * secondMs;
    const isKept = await this.#records.keep({ kind: this.#kind, id, payload, grant: payload.grantId, expiresAt });
    // The agent was cut off since this request began.
    if (!isKept) throw new errors.InvalidGrant('the agent is not connected');
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await this.#records.find({ kind: this.#kind, id });
    if (found === null) return undefined;
    // A grant lives as long as it is refreshed, which its first payload cannot know.
    const exp = Math.floor(found.expiresAt / secondMs);
    return this.#isConsumed(found.consumedAt) ? { ...found.payload, exp, consumed: true } : { ...found.payload, exp };
  }

  async consume(id: string): Promise<void> {
    if (await this.#records.consume({ kind: this.#kind, id })) return;
    // Another request used the code since this one read it (RFC 6749 §4.1.2).
    if (this.#kind === 'AuthorizationCode') throw new errors.InvalidGrant('authorization code already consumed');
  }

  /** Whoever revokes a grant ends its agent too, whose access token is still valid. */
  async destroy(id: string): Promise<void> {
    await this.#records.remove({ kind: this.#kind, id });
    if (this.#kind === 'Grant') await disconnectGrant(this.#backend, id);
  }

  async revokeByGrantId(grant: string): Promise<void> {
    await this.#records.removeTokens(grant);
  }

  #isConsumed(consumedAt: number | null): boolean {
    if (consumedAt === null) return false;
    return this.#kind !== 'RefreshToken' || Date.now() - consumedAt > graceMs;
  }
}
