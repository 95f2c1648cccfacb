import { z } from 'zod';
import { type ErrorCode, isErrorCode, SvcError } from '../../contracts/errors.ts';
import { shownText } from '../../contracts/shown-text.ts';
import type { Logger } from '../log.ts';
import { withBugReported } from '../report-bug.ts';

/** An error as it crosses the bus: text only, on every engine. */
export interface BusError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

const messageMaxLength = 4000;
const hintMaxLength = 1000;

/**
 * The code the caller receives for each code of the responder. Codes about the responder's own connection would be
 * wrong at the caller.
 */
const codeAtAsker: Readonly<Record<ErrorCode, ErrorCode>> = {
  invalid_input: 'invalid_input',
  unauthenticated: 'unauthenticated',
  forbidden: 'forbidden',
  not_found: 'not_found',
  conflict: 'conflict',
  too_large: 'too_large',
  rate_limited: 'rate_limited',
  timeout: 'timeout',
  unavailable: 'unavailable',
  unsupported: 'unsupported',
  // The caller did not cancel, or it would no longer listen.
  cancelled: 'unavailable',
  internal: 'internal',
};

/** Converts an error of a responder for sending. A bug is logged here and crosses as an id. */
export function errorOnBus(thrown: unknown, logger: Logger): BusError {
  const error = withBugReported(thrown, logger);
  return {
    code: codeAtAsker[error.code],
    message: error.message.slice(0, messageMaxLength),
    ...(error.hint === undefined ? {} : { hint: error.hint.slice(0, hintMaxLength) }),
  };
}

/**
 * The error at the caller's end. The sender may be hostile, so the text is cleaned and bounded again. A code of a newer
 * version is `internal` here.
 */
export function errorFromBus({ code, message, hint }: z.infer<typeof receivedError>): SvcError {
  return new SvcError(
    isErrorCode(code) ? codeAtAsker[code] : 'internal',
    shownText(message, messageMaxLength),
    hint === undefined ? {} : { hint: shownText(hint, hintMaxLength) },
  );
}

/** A `BusError` as received, before `errorFromBus` has checked it. */
export const receivedError = z.object({ code: z.string(), message: z.string(), hint: z.string().optional() });

/** The error in a payload. Throws when the payload holds none. */
export function parseErrorFromBus(payload: Uint8Array): SvcError {
  return errorFromBus(receivedError.parse(JSON.parse(Buffer.from(payload).toString())));
}
