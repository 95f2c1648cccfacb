import { SvcError } from '../../contracts/errors.ts';

/** A request that is being carried out, and aborted with the reason why it is not any more. */
export class CallUnderWay extends AbortController {
  /** The header that its key came in, to check the key again when it has changed. */
  readonly authorization: string | undefined;

  constructor(authorization: string | undefined) {
    super();
    this.authorization = authorization;
  }

  /** Nobody wants its answer any more. */
  cancel(): void {
    this.abort(new SvcError('cancelled', 'The request was cancelled.'));
  }
}
