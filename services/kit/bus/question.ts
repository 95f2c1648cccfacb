import { SvcError } from '../../contracts/errors.ts';
import { Cancellation } from '../cancellation.ts';
import type { Headers, Message, Request } from './bus.ts';

/** Receives the interim replies of a responder. */
export interface Replying {
  interim(payload: Uint8Array, headers: Headers | undefined): Promise<void>;
}

/** An exchange as its responder sees it. */
export class Question implements Request {
  readonly #replying: Replying;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Headers;
  readonly signal = new Cancellation();

  constructor(replying: Replying, { subject, payload, headers }: Message) {
    this.#replying = replying;
    this.subject = subject;
    this.payload = payload;
    this.headers = headers;
  }

  interim(payload: Uint8Array, headers?: Headers): Promise<void> {
    return this.#replying.interim(payload, headers);
  }

  abort(reason = new SvcError('cancelled', 'The request was cancelled.')): void {
    this.signal.abort(reason);
  }
}
