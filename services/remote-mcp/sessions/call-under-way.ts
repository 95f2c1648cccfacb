import { SvcError } from '../../contracts/errors.ts';
import { Cancellation, type CancelSignal } from '../../kit/cancellation.ts';
import type { Admitted } from '../auth/rechecks.ts';

/** The agent's id of a request. A number and a text of the same digits are two ids (JSON-RPC 2.0, section 4). */
export type RequestId = string | number;

/** A request in progress, until it is answered or ended with a reason. */
export class CallUnderWay implements Admitted {
  readonly #cancellation = new Cancellation();
  readonly id: RequestId;
  readonly authorization: string | undefined;
  #isAnswered = false;

  constructor(id: RequestId, authorization: string | undefined) {
    this.id = id;
    this.authorization = authorization;
  }

  /** Its reason is a SvcError. */
  get signal(): CancelSignal {
    return this.#cancellation;
  }

  get isOver(): boolean {
    return this.#isAnswered || this.#cancellation.aborted;
  }

  answered(): void {
    this.#isAnswered = true;
  }

  /** The agent no longer wants the answer. */
  cancel(): void {
    this.end(new SvcError('cancelled', 'The request was cancelled.'));
  }

  end(why: SvcError): void {
    this.#cancellation.abort(why);
  }
}
