import { type ErrorCode, SvcError, type SvcErrorOptions } from '../../contracts/errors.ts';

/** A refusal whose HTTP status differs from the usual one of its code: 405, 406 and 415 are all `unsupported`. */
export class HttpRefusal extends SvcError {
  readonly status: number;
  readonly headers: readonly string[];

  constructor(
    code: ErrorCode,
    message: string,
    options: SvcErrorOptions & { readonly status: number; readonly headers?: readonly string[] },
  ) {
    super(code, message, options);
    this.status = options.status;
    this.headers = options.headers ?? [];
  }
}
