import { withoutKeys } from './keys.ts';

/**
 * The closed set of error codes. Every outlet (HTTP, bus, JSON-RPC, GraphQL, terminal) maps all of them in one total
 * table.
 */
export const errorCodes = [
  'invalid_input',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
  'rate_limited',
  'timeout',
  'unavailable',
  'unsupported',
  'cancelled',
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export interface SvcErrorOptions {
  /** The next action: a command to run, a setting to change. */
  readonly hint?: string;
  /** For the log; never leaves the process. */
  readonly cause?: unknown;
}

/**
 * An expected failure: a code and a message that may be shown to the caller. Messages quote the input with keys
 * removed, because a key may be typed in any wrong place.
 */
export class SvcError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(withoutKeys(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SvcError';
    this.code = code;
    this.hint = options.hint === undefined ? undefined : withoutKeys(options.hint);
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return errorCodes.some((code) => code === value);
}

/** Converts anything thrown into an expected error: a bug becomes `internal`, and its text stays inside as the cause. */
export function toSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  if (thrown instanceof Error && thrown.name === 'AbortError') {
    return new SvcError('cancelled', 'The request was cancelled.', { cause: thrown });
  }
  return new SvcError('internal', 'Something went wrong inside the platform.', { cause: thrown });
}
