import { SvcError } from '../../contracts/errors.ts';

/** A call that the MCP server did not receive: another process may take it. */
export class CallRefused extends SvcError {
  /** Converts the reason why the call was not sent. */
  static because(thrown: unknown): unknown {
    if (!(thrown instanceof SvcError)) return thrown;
    const { code, message, hint } = thrown;
    return new CallRefused(code, message, { cause: thrown, ...(hint === undefined ? {} : { hint }) });
  }
}
