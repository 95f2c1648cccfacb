import { SvcError } from '../../contracts/errors.ts';

/** A request that is being carried out, until it is answered or ended with the reason why it is not. */
export class CallUnderWay {
  readonly #controller = new AbortController();
  /** The header that its key came in, to check the key again when it has changed. */
  readonly authorization: string | undefined;

  constructor(authorization: string | undefined) {
    this.authorization = authorization;
  }

  /** Its reason is a SvcError. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Nobody wants its answer any more. */
  cancel(): void {
    this.end(new SvcError('cancelled', 'The request was cancelled.'));
  }

  end(why: SvcError): void {
    this.#controller.abort(why);
  }
}
