import type { ErrorCode, SvcError } from '../../contracts/errors.ts';

/** The HTTP status of each code. 499 is not in a standard: the client has disconnected and will not read it. */
export const httpStatuses: Readonly<Record<ErrorCode, number>> = {
  invalid_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  rate_limited: 429,
  timeout: 504,
  unavailable: 503,
  unsupported: 501,
  cancelled: 499,
  internal: 500,
};

export interface HttpError {
  readonly status: number;
  readonly body: { readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint?: string } };
}

/** Expects an error whose text may be shown: bugs pass `withBugReported` first. */
export function errorToHttp(error: SvcError): HttpError {
  const { code, message, hint } = error;
  return { status: httpStatuses[code], body: { error: { code, message, ...(hint === undefined ? {} : { hint }) } } };
}
