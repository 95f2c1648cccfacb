import { SvcError } from '../../contracts/errors.ts';
import type { Admitted } from '../auth/rechecks.ts';

/** The agent's id of a request. A number and a text of the same digits are two ids (JSON-RPC 2.0, section 4). */
export type RequestId = string | number;

/** A request under way, until it is answered or ended with a reason. */
export class CallUnderWay implements Admitted {
  readonly #controller = new AbortController();
  readonly authorization: string | undefined;
  #isAnswered = false;

  constructor(authorization: string | undefined) {
    this.authorization = authorization;
  }

  /** Its reason is a SvcError. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#isAnswered || this.#controller.signal.aborted;
  }

  answered(): void {
    this.#isAnswered = true;
  }

  /** The agent no longer wants the answer. */
  cancel(): void {
    this.end(new SvcError('cancelled', 'The request was cancelled.'));
  }

  end(why: SvcError): void {
    this.#controller.abort(why);
  }
}
