import { SvcError } from '../../contracts/errors.ts';

/** A call that the MCP server was not given: another process may have it. */
export class CallRefused extends SvcError {
  /** What kept it from being given to the MCP server. */
  static because(thrown: unknown): unknown {
    if (!(thrown instanceof SvcError)) return thrown;
    const { code, message, hint } = thrown;
    return new CallRefused(code, message, { cause: thrown, ...(hint === undefined ? {} : { hint }) });
  }
}
