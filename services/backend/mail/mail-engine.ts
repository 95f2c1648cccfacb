import type { MailId } from '../../contracts/ids.ts';
import type { Letter } from './letters.ts';

/** How mail leaves the platform. Engines: log, provider_a, provider_b, smtp. */
export interface MailEngine {
  /** The longest duration of one attempt. The sender ends it then. */
  readonly deadlineMs: number;
  /** Tries once. Never throws, and comes to its end soon after the signal. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<Outcome>;
}

export interface OutgoingMail {
  /** The same in each attempt, so that a receiver can recognise a repetition. */
  readonly id: MailId;
  readonly to: string;
  readonly letter: Letter;
}

/** A reason is one clause. It quotes no text of the receiver, which may contain the key or the mail. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** Certainly not accepted. `isFinal`: a repetition would be refused too. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isFinal: boolean }
  /** The mail may have been accepted, so it is not repeated. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** The sender's name is one line, whatever its setting contains. */
export const fromNameMaxChars = 255;

export const accepted: Outcome = { kind: 'accepted' };

export function refused(reason: string, { isFinal = false } = {}): Outcome {
  return { kind: 'refused', reason, isFinal };
}

/** The outcome of an attempt that ended without an answer. */
export function withoutAnswer(reason: string, mayHaveArrived: boolean): Outcome {
  return mayHaveArrived ? { kind: 'unknown', reason } : refused(reason);
}

/** Why an attempt was ended: by its deadline, or by the stop of the backend. */
export function interruption(signal: AbortSignal, deadlineMs: number): string {
  const isLate = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return isLate ? `did not answer within ${deadlineMs / 1000} s` : 'was interrupted: the backend stopped';
}
