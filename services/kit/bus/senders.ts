import { findRuntimeProcess, isRuntimeEnd, type RuntimeProcessName, runtimeOrEnd } from '../../contracts/bus/ends.ts';
import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../log.ts';

/** Largest number of tokens that all processes of one runtime can save up. */
export const allowanceMax = 2000;
/**
 * Below this balance, questions of the sender are not answered: an honest one then waits, long before all its messages
 * are refused.
 */
export const questionsFromTokens = 1500;
/** Tokens earned in a second. */
export const allowancePerSecond = 200;

/**
 * Price of each unrequested message of a runtime process, and the number of bytes for one more token. Calls and their
 * replies are free, because flow control bounds them. An honest process sends at most 20 heartbeats and 10 questions a
 * second and keeps most of its tokens.
 */
export const costs = {
  /** A published message, which is a heartbeat. */
  message: { tokens: 4, bytesPerToken: 4096 },
  question: { tokens: 10, bytesPerToken: 65_536 },
  /** A further frame of a question, a receipt or a cancel. */
  control: { tokens: 4, bytesPerToken: 65_536 },
  /** A frame that belongs to no request, or is malformed. */
  stray: { tokens: 1, bytesPerToken: 4096 },
} as const;
type Cost = keyof typeof costs;

/** Open questions of all processes of a runtime. A process sends one handshake and one report at a time. */
export const questionsAtOnceMax = 8;
/** Largest published message of a runtime: a heartbeat has 200 bytes. */
export const runtimeMessageMaxBytes = 16 * 1024;
/** How long a runtime that exceeded its allowance is refused. */
export const refusedMs = 10_000;
/** Accounts of runtimes. The oldest is removed first. */
const accountsMax = 10_000;

interface Account {
  tokens: number;
  at: number;
  questions: number;
  /** Until this time all messages of the sender are dropped. */
  refusedUntil: number;
}

const nothingTaken = () => undefined;

export interface SendersOptions {
  readonly logger: Logger;
  /** Asks the backend to end the connections of the runtime. The named process exceeded the allowance. */
  readonly close: (sender: RuntimeProcessName) => void;
}

/**
 * Limits the load that one runtime can put on this connection. All its processes share one account, because a key
 * admits any number of them. The bus enforces the sender in the subject; backends and remote-mcps are trusted and have
 * no limit.
 */
export class Senders {
  readonly #options: SendersOptions;
  /** By runtime. */
  readonly #accounts = new Map<string, Account>();
  /** Accounts with `refusedUntil`, so that a frame costs one comparison while there is none. */
  #refused = 0;

  constructor(options: SendersOptions) {
    this.#options = options;
  }

  /** Whether messages of the sender are dropped now. Cheap enough to check first for each frame. */
  isRefused(end: string): boolean {
    if (this.#refused === 0) return false;
    const account = this.#accounts.get(runtimeOrEnd(end));
    if (account === undefined || account.refusedUntil === 0) return false;
    if (account.refusedUntil > performance.now()) return true;
    account.refusedUntil = 0;
    this.#refused--;
    return false;
  }

  /** False when the sender exceeds its allowance: its message must be dropped. */
  spend(end: string, cost: Cost, bytes: number): boolean {
    if (!isRuntimeEnd(end)) return true;
    if (this.isRefused(end)) return false;
    const account = this.#accountOf(end);
    const { tokens, bytesPerToken } = costs[cost];
    account.tokens -= tokens + Math.floor(bytes / bytesPerToken);
    if (account.tokens >= 0) return true;
    this.#refuse(end, account, cost);
    return false;
  }

  /**
   * Takes a place for a question and returns its release, which must be called once. Throws `rate_limited` when the
   * sender has too many open questions or few tokens left.
   */
  begin(end: string): () => void {
    if (!isRuntimeEnd(end)) return nothingTaken;
    const account = this.#accountOf(end);
    if (account.questions >= questionsAtOnceMax || account.tokens < questionsFromTokens) {
      throw askedTooMuch(end);
    }
    account.questions++;
    return () => void account.questions--;
  }

  /** `spend` and `begin` in one, for an engine that informs the sender at once. */
  ask(end: string, bytes: number): () => void {
    if (!isRuntimeEnd(end)) return nothingTaken;
    if (!this.spend(end, 'question', bytes)) throw askedTooMuch(end);
    return this.begin(end);
  }

  #accountOf(end: string): Account {
    const now = performance.now();
    const runtime = runtimeOrEnd(end);
    const known = this.#accounts.get(runtime);
    if (known === undefined) return this.#open(runtime, now);
    known.tokens = tokensAt(known, now);
    known.at = now;
    return known;
  }

  #open(runtime: string, now: number): Account {
    const account = { tokens: allowanceMax, at: now, questions: 0, refusedUntil: 0 };
    this.#age(now);
    this.#accounts.set(runtime, account);
    return account;
  }

  /**
   * Checks the two oldest accounts for each new one. An account with a full balance is removed, any other becomes the
   * youngest.
   */
  #age(now: number): void {
    let looks = 2;
    for (const [runtime, account] of this.#accounts) {
      if (looks-- === 0) return;
      const isLikeNew =
        account.questions === 0 && account.refusedUntil <= now && tokensAt(account, now) === allowanceMax;
      this.#accounts.delete(runtime);
      if (!isLikeNew && this.#accounts.size < accountsMax - 1) this.#accounts.set(runtime, account);
      else if (account.refusedUntil !== 0) this.#refused--;
    }
  }

  #refuse(end: string, account: Account, cost: Cost): void {
    account.tokens = 0;
    account.refusedUntil = performance.now() + refusedMs;
    this.#refused++;
    const sender = findRuntimeProcess(end);
    const { logger, close } = this.#options;
    logger.warn({ ...(sender ?? { end }), cost, refusedMs }, 'refused a runtime that sent more than it may');
    if (sender !== null) close(sender);
  }
}

function tokensAt({ tokens, at }: Account, now: number): number {
  return Math.min(allowanceMax, tokens + ((now - at) / 1000) * allowancePerSecond);
}

function askedTooMuch(end: string): SvcError {
  return new SvcError('rate_limited', `The runtime "${runtimeOrEnd(end)}" sends too many requests.`, {
    hint: 'Try again shortly.',
  });
}

/** Throws `too_large` when the message is larger than a runtime may publish. */
export function checkMessageOf({ kind }: Identity, payload: Uint8Array): void {
  if (kind !== 'runtime' || payload.byteLength <= runtimeMessageMaxBytes) return;
  throw new SvcError(
    'too_large',
    `A message of ${payload.byteLength} bytes is above the limit of ${runtimeMessageMaxBytes} for a runtime.`,
  );
}
