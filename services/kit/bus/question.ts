import type { SvcError } from '../../contracts/errors.ts';
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
  /** Created on the first use: most handlers of short requests never read the signal. */
  #controller: AbortController | null = null;
  #aborted: { readonly reason: SvcError | undefined } | null = null;

  constructor(replying: Replying, { subject, payload, headers }: Message) {
    this.#replying = replying;
    this.subject = subject;
    this.payload = payload;
    this.headers = headers;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#aborted !== null) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  interim(payload: Uint8Array, headers?: Headers): Promise<void> {
    return this.#replying.interim(payload, headers);
  }

  abort(reason?: SvcError): void {
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}
