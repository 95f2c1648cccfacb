import { findRuntimeProcess, isRuntimeEnd, type RuntimeProcessName, runtimeOrEnd } from '../../contracts/bus/ends.ts';
import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../log.ts';

/** Tokens that the processes of one runtime may spend at once, together. */
export const allowanceMax = 2000;
/** With fewer tokens left, a sender gets no question answered: an honest one waits then, long before it is refused altogether. */
export const questionsFromTokens = 1500;
/** Tokens that it gets back in a second. */
export const allowancePerSecond = 200;

/**
 * What a message costs that a runtime process sends of its own accord, and after how many bytes it costs one token more. Calls and their
 * replies cost nothing: their senders are asked, and flow control bounds them. An honest process keeps most of its tokens: it sends at most
 * 20 heartbeats and 10 questions a second.
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

/** For all processes of a runtime. A process asks one handshake and one report at a time. */
export const questionsAtOnceMax = 8;
/** A published message of a runtime: a heartbeat has 200 bytes. */
export const runtimeMessageMaxBytes = 16 * 1024;
/** How long a runtime beyond its bounds is refused. */
export const refusedMs = 10_000;
/** Accounts of runtimes. The oldest gives way. */
const accountsMax = 10_000;

interface Account {
  tokens: number;
  at: number;
  /** Begun, and not answered yet. */
  questions: number;
  /** Until this time nothing of the sender is heard. */
  refusedUntil: number;
}

const nothingTaken = () => undefined;

export interface SendersOptions {
  readonly logger: Logger;
  /** Has the connections of the runtime ended, by the backend. The process is the one that went beyond the bounds. */
  readonly close: (sender: RuntimeProcessName) => void;
}

/**
 * Bounds what one runtime can fill at this connection. All its processes share one account, because a key admits any number of them. A sender is the end that the subject names, which the bus enforces. Ends of
 * backends and remote-mcps are trusted and have no bound here.
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

  /** Whether nothing of the sender is heard now. Cheap enough to ask first for each frame. */
  isRefused(end: string): boolean {
    if (this.#refused === 0) return false;
    const account = this.#accounts.get(runtimeOrEnd(end));
    if (account === undefined || account.refusedUntil === 0) return false;
    if (account.refusedUntil > performance.now()) return true;
    account.refusedUntil = 0;
    this.#refused--;
    return false;
  }

  /** False where the sender is beyond its bounds: its message must be dropped. */
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
   * Takes a place for a question. Returns what gives the place back, which must be called once. Throws `rate_limited` where the sender asks
   * too much at once or has few tokens left.
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

  /** `spend` and `begin` in one, for an engine that tells the sender at once. */
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

  /** Looks at the two oldest accounts for each new one. An account that is as good as a new one goes, any other becomes the youngest. */
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

/** Throws `too_large` where the message is more than a runtime may publish. */
export function checkMessageOf({ kind }: Identity, payload: Uint8Array): void {
  if (kind !== 'runtime' || payload.byteLength <= runtimeMessageMaxBytes) return;
  throw new SvcError(
    'too_large',
    `A message of ${payload.byteLength} bytes is above the limit of ${runtimeMessageMaxBytes} for a runtime.`,
  );
}
