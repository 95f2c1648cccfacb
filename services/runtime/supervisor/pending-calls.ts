import type { SvcError } from '../../contracts/errors.ts';
import type { ReplacedToken } from '../wire/progress-token.ts';
import type { Answer, Call } from './call.ts';

/** Concurrent calls in one MCP server; more would be a queue that only grows. */
export const pendingMax = 256;

/**
 * The calls that one MCP server has not answered yet. They are in an array, because a Map whose members change all the time
 * keeps removed members in memory (decision 0053).
 */
export class PendingCalls {
  /** The call with the id `n` is at `n % pendingMax`. */
  readonly #calls: (Pending | null)[] = Array.from({ length: pendingMax }, () => null);
  #size = 0;
  #lastId = 0;

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size >= pendingMax;
  }

  /** The next id whose place is free. There is one while `isFull` is false. */
  nextId(): number {
    do this.#lastId++;
    while (this.#calls[this.#lastId % pendingMax] !== null);
    return this.#lastId;
  }

  add(pending: Pending): void {
    this.#calls[pending.id % pendingMax] = pending;
    this.#size++;
  }

  find(id: number): Pending | null {
    const pending = this.#calls[id % pendingMax] ?? null;
    return pending?.id === id ? pending : null;
  }

  /** Idempotent. */
  remove(pending: Pending): void {
    if (this.find(pending.id) !== pending) return;
    this.#calls[pending.id % pendingMax] = null;
    this.#size--;
  }

  all(): readonly Pending[] {
    return this.#calls.filter((pending) => pending !== null);
  }
}

interface Ends {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: SvcError) => void;
  readonly abandon: () => void;
}

export class Pending {
  readonly id: number;
  readonly call: Call;
  readonly since = performance.now();
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: SvcError) => void;
  readonly #abandon: () => void;
  token: string | null = null;
  restore: ReplacedToken['restore'] = (notification) => notification;

  constructor(id: number, call: Call, { resolve, reject, abandon }: Ends) {
    this.id = id;
    this.call = call;
    this.resolve = resolve;
    this.reject = reject;
    this.#abandon = abandon;
  }

  /** The call's signal has aborted. */
  handleEvent(): void {
    this.#abandon();
  }
}
