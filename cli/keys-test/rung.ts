import type { Secret } from '../../services/contracts/secret.ts';
import type { Cause } from './causes.ts';

/** The result of a rung: `noted` passed but deserves attention, `untested` says nothing about the key. */
export type Mark = 'passed' | 'noted' | 'untested' | 'failed';

/** The result for a key. `untested`: the address was not reached, or its answer says nothing about a key. */
export type Verdict = 'valid' | 'refused' | 'untested';

export interface Climber {
  readonly url: URL;
  readonly key: Secret;
  readonly isForKeys: boolean;
  session: string | null;
  /** HTTP status of the answer to the key; 0 if it was never sent. */
  status: number;
  pingMs: number;
  verdict: Verdict;
}

export interface Outcome {
  readonly mark: Mark;
  readonly detail: string;
  readonly cause: Cause | null;
}

export interface RungTest {
  readonly name: string;
  /** Null if the rung does not apply. */
  readonly climb: (climber: Climber) => Promise<Outcome | null>;
}

export const rungTimeoutMs = 10_000;

/** Since a moment of `performance.now()`, rounded to a tenth because more digits would be noise. */
export function elapsedMs(start: number): number {
  return Math.round((performance.now() - start) * 10) / 10;
}

export function passed(detail: string): Outcome {
  return { mark: 'passed', detail, cause: null };
}

export function noted(detail: string): Outcome {
  return { mark: 'noted', detail, cause: null };
}

export function untested(cause: Cause): Outcome {
  return { mark: 'untested', detail: `could not be tested: ${cause.message}`, cause };
}

export function failed(cause: Cause): Outcome {
  return { mark: 'failed', detail: cause.message, cause };
}
