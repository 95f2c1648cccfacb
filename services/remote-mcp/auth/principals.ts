import { hash } from 'node:crypto';
import type { KeyReply, Principal } from '../../contracts/bus/messages.ts';
import type { KeyId, UserId, WorkspaceId } from '../../contracts/ids.ts';
import { parseKey } from '../../contracts/keys.ts';
import type { Secret } from '../../contracts/secret.ts';
import { BoundedMap } from '../../kit/bounded-map.ts';
import { bearerToken } from './bearer-token.ts';
import { CheckPlaces, type CheckSender } from './check-places.ts';
import { refusedKey } from './refusals.ts';

export interface PrincipalsOptions {
  readonly checkKey: (key: Secret) => Promise<KeyReply>;
  /** Called at most once in `usedEveryMs` for each key. */
  readonly onUsed: (principal: Principal) => void;
}

/** How long a checked key is trusted without asking again, and for how long a refusal is remembered. */
export const freshMs = 30_000;
const refusedMs = 2000;
const usedEveryMs = 5000;
/** Keys in use at one remote-mcp. Refusals are kept apart, so that a flood of wrong keys evicts no good key. */
const principalsMax = 10_000;
const refusalsMax = 1000;
/**
 * A flood of unknown keys must not become a flood on the bus, or delay calls. A waiting request holds up to 64 KiB of
 * its body.
 */
const unknownChecks = { places: 16, waitingMax: 2048, waitMaxMs: 5000 };
/** Keys that were good have separate places, which unknown keys cannot take. */
const knownChecks = { places: 64, waitingMax: principalsMax, waitMaxMs: 5000 };

interface CachedPrincipal {
  readonly principal: Principal;
  /** On the monotonic clock. */
  readonly freshUntil: number;
  usedAt: number;
}

interface Refused {
  readonly refusal: 'unknown' | 'expired' | 'revoked';
  readonly at: number | null;
  readonly until: number;
}

/** The owners of keys. The backend is asked once, and its answer is remembered for a short time under a digest of the key. */
export class Principals {
  readonly #options: PrincipalsOptions;
  readonly #known = new BoundedMap<CachedPrincipal>(principalsMax);
  readonly #refused = new BoundedMap<Refused>(refusalsMax);
  /** Digests of keys that were good at their last check. They outlive the rest of the entry. */
  readonly #good = new BoundedMap<true>(principalsMax);
  readonly #checks = new Map<string, Promise<Principal>>();
  readonly #unknownPlaces = new CheckPlaces(unknownChecks);
  readonly #knownPlaces = new CheckPlaces(knownChecks);
  /** Raised when the answers of running checks become too old to be remembered. */
  #generation = 0;

  constructor(options: PrincipalsOptions) {
    this.#options = options;
  }

  /**
   * Returns no promise if the key is remembered. Throws `unauthenticated`, and `unavailable` if the key cannot be
   * checked now. `sender` is the connection that waits for a place; null for a key that was accepted before.
   */
  authenticate(authorization: string | undefined, sender: CheckSender | null = null): Principal | Promise<Principal> {
    const token = bearerToken(authorization);
    const digest = hash('sha256', token, 'base64');
    const known = this.#known.get(digest);
    if (known !== undefined) {
      // An expired key is refused even if the backend is away.
      refuseExpired(known.principal);
      const now = performance.now();
      if (now < known.freshUntil) {
        if (now - known.usedAt >= usedEveryMs) this.#use(known, now);
        return known.principal;
      }
    }
    return this.#check(token, digest, sender);
  }

  /** The key was changed or revoked. */
  forgetKey(key: KeyId): void {
    this.#outdateChecks();
    this.#refused.clear();
    this.#known.deleteWhere(({ principal }) => principal.key === key);
  }

  /** A person may have signed out. Returns the ids that stand for the person who tries tools; keys stay as they are. */
  forgetPerson(user: UserId): ReadonlySet<KeyId> {
    this.#outdateChecks();
    const forgotten = new Set<KeyId>();
    this.#known.deleteWhere(({ principal }) => {
      const isMeant = principal.user === user && principal.operator === true;
      if (isMeant) forgotten.add(principal.key);
      return isMeant;
    });
    return forgotten;
  }

  forgetWorkspace(workspace: WorkspaceId): void {
    this.#outdateChecks();
    this.#known.deleteWhere(({ principal }) => principal.workspace === workspace);
  }

  /** Events may have been missed. */
  forgetAll(): void {
    this.#outdateChecks();
    this.#refused.clear();
    this.#known.clear();
  }

  /** Answers to earlier questions are too old for later requests. */
  #outdateChecks(): void {
    this.#generation++;
    this.#checks.clear();
  }

  #check(token: string, digest: string, sender: CheckSender | null): Promise<Principal> {
    const parsed = parseKey(token);
    if (!parsed.ok) throw refusedKey(parsed.refusal);
    if (parsed.kind === 'runtime' || parsed.kind === 'system') throw refusedKey('wrong_kind');
    const refused = this.#refused.get(digest);
    if (refused !== undefined && performance.now() < refused.until) throw refusedKey(refused.refusal, refused.at);
    const underWay = this.#checks.get(digest);
    if (underWay !== undefined) return underWay;
    const ask = () => this.#ask(parsed.key, digest);
    const isGood = this.#good.get(digest) !== undefined;
    const asked = isGood ? this.#knownPlaces.run(digest, ask) : this.#unknownPlaces.run(sender ?? digest, ask);
    const check = asked.finally(() => {
      if (this.#checks.get(digest) === check) this.#checks.delete(digest);
    });
    this.#checks.set(digest, check);
    return check;
  }

  async #ask(key: Secret, digest: string): Promise<Principal> {
    const generation = this.#generation;
    const reply = await this.#options.checkKey(key);
    const isCurrent = generation === this.#generation;
    const now = performance.now();
    if (!reply.ok) {
      const { refusal, at } = reply;
      this.#good.delete(digest);
      if (isCurrent) this.#refused.set(digest, { refusal, at, until: now + refusedMs });
      throw refusedKey(refusal, at);
    }
    refuseExpired(reply.principal);
    const known = { principal: reply.principal, freshUntil: now + freshMs, usedAt: 0 };
    if (isCurrent) this.#known.set(digest, known);
    this.#good.set(digest, true);
    this.#use(known, now);
    return known.principal;
  }

  #use(known: CachedPrincipal, now: number): void {
    known.usedAt = now;
    this.#options.onUsed(known.principal);
  }
}

function refuseExpired({ expiresAt }: Principal): void {
  if (expiresAt !== null && Date.now() >= expiresAt) throw refusedKey('expired', expiresAt);
}
