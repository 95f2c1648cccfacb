import { type ErrorCode, SvcError, type SvcErrorOptions } from '../../../contracts/errors.ts';
import type { Row } from './connection.ts';
import type { FollowPlan, RowsPlan } from './read-plan.ts';
import type { Followed } from './run-plan.ts';

/** Questions of the main thread to the reading thread, which answers in order. */
export type Question =
  | { readonly kind: 'rows'; readonly plan: RowsPlan }
  | { readonly kind: 'follow'; readonly plan: FollowPlan }
  | { readonly kind: 'close' };

export interface Answers {
  readonly rows: readonly Row[];
  readonly follow: Followed;
  readonly close: null;
}

export type Answer = { readonly result: Answers[keyof Answers] } | { readonly failure: Failure };

/** An error loses its class and code between threads, so both are sent as values. */
export type Failure =
  | { readonly code: ErrorCode; readonly message: string; readonly hint: string | null }
  | { readonly code: null; readonly message: string };

export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof SvcError) return { code: thrown.code, message: thrown.message, hint: thrown.hint ?? null };
  return { code: null, message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
}

export function toError(failure: Failure): Error {
  if (failure.code === null) return new Error(`In the reading thread: ${failure.message}`);
  const options: SvcErrorOptions = failure.hint === null ? {} : { hint: failure.hint };
  return new SvcError(failure.code, failure.message, options);
}
