import { SvcError } from '../../contracts/errors.ts';
import type { Held } from '../../kit/budget.ts';

const mebibyte = 1024 * 1024;
/** JSON text of one answer. A larger one also burdens the client that parses it. */
export const answerMaxBytes = 8 * mebibyte;
/**
 * Half of a user's share, so that the user's other requests continue. A page of skills with the longest instructions
 * takes 25 MiB.
 */
export const operationMaxBytes = 32 * mebibyte;
/** A change reserves this before it begins, and its answer gets no more: 32 changes at once take a user's share. */
export const changeMaxBytes = 2 * mebibyte;
/** The text of an answer, whose characters may have two bytes, and its bytes. */
const copies = 3;
/** Fields are many and small, so the budget is charged once for several of them. */
const stepBytes = 64 * 1024;

/**
 * One running operation. Its reads and its answer count as memory of its user before they are kept. It stops when its
 * memory or its time is used up, and ends with its last read, which may be after its answer.
 */
export class Operation {
  /** The user's name in budgets. */
  readonly user: string;
  readonly #held: Held;
  /** Memory of the request's body. */
  readonly #bodyBytes: number;
  readonly #stopping = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #usedBytes = 0;
  #answerBytes = 0;
  #underWay = 0;
  #isChange = false;

  constructor(user: string, held: Held) {
    this.user = user;
    this.#held = held;
    this.#bodyBytes = held.amount;
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Resolves when no work of it is running and none can begin. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Refuses all work that would begin after this. */
  stop(reason: SvcError): void {
    this.#stopping.abort(reason);
    this.#endWhenIdle();
  }

  /** Reserves all memory of a change, because a refusal after the change would mislead the caller. */
  reserveChange(): void {
    this.#held.resize(this.#bodyBytes + changeMaxBytes);
    this.#isChange = true;
  }

  async run<Result>(work: () => Promise<Result> | Result): Promise<Result> {
    this.signal.throwIfAborted();
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#endWhenIdle();
    }
  }

  countRead(bytes: number): void {
    this.#use(bytes);
  }

  countAnswer(bytes: number): void {
    this.#answerBytes += bytes;
    if (this.#answerBytes > answerMaxBytes) this.#refuse(answerTooLarge());
    this.#use(bytes * copies);
  }

  #use(bytes: number): void {
    this.signal.throwIfAborted();
    this.#usedBytes += bytes;
    if (this.#isChange) {
      if (this.#usedBytes > changeMaxBytes) throw changeAnswerTooLarge();
      return;
    }
    if (this.#usedBytes > operationMaxBytes) this.#refuse(readsTooMuch());
    const needed = this.#bodyBytes + this.#usedBytes;
    if (needed <= this.#held.amount) return;
    try {
      this.#held.resize(needed + stepBytes);
    } catch (refusal) {
      this.#refuse(refusal);
    }
  }

  #refuse(refusal: unknown): never {
    if (refusal instanceof SvcError && !this.#isChange) this.stop(refusal);
    throw refusal;
  }

  #endWhenIdle(): void {
    if (this.signal.aborted && this.#underWay === 0) this.#ended.resolve();
  }
}

const hint = 'Ask for fewer fields, or for smaller pages with "first".';

function answerTooLarge(): SvcError {
  return new SvcError('too_large', `The answer is larger than ${answerMaxBytes / mebibyte} MiB.`, { hint });
}

function readsTooMuch(): SvcError {
  const message = `The operation takes more than ${operationMaxBytes / mebibyte} MiB of memory.`;
  return new SvcError('too_large', message, { hint });
}

function changeAnswerTooLarge(): SvcError {
  const message = `The change was made. Its answer takes more than ${changeMaxBytes / mebibyte} MiB of memory.`;
  return new SvcError('too_large', message, { hint: 'Read the fields with a query.' });
}
