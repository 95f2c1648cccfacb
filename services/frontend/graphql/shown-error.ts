import { type ErrorCode, isErrorCode } from '../../contracts/errors.ts';
import { withoutCommands } from './without-commands.ts';

/** A failure as it is shown: what failed, what to do, and the id under which the log has it. */
export class ShownError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly requestId: string | null;

  constructor({ code, message, hint, requestId }: ErrorFields) {
    super(message);
    this.name = 'ShownError';
    this.code = code;
    this.hint = hint;
    this.requestId = requestId;
  }
}

export interface ErrorFields {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | null;
  readonly requestId: string | null;
}

/** Reads `{"error":{"code","message","hint"}}`, which the backend answers over HTTP. Null: the text has another form. */
export function readHttpError(text: string, requestId: string | null): ShownError | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return errorFrom(fieldOf(value, 'error'), requestId);
}

/** From an object with the members of an error. */
export function errorFrom(value: unknown, requestId: string | null): ShownError | null {
  const [code, message, hint] = ['code', 'message', 'hint'].map((name) => fieldOf(value, name));
  if (!isErrorCode(code) || typeof message !== 'string') return null;
  const shownHint = typeof hint === 'string' ? withoutCommands(hint) : null;
  return new ShownError({ code, message, hint: shownHint, requestId });
}

/** The backend gave no answer that can be read. */
export function unreachable(address: string): ShownError {
  return new ShownError({
    code: 'unavailable',
    message: `The backend at ${address} does not answer.`,
    hint: 'Check your connection. On the machine of the platform: svc status',
    requestId: null,
  });
}

/** The error to show. Any other error than a ShownError is a fault of the page. */
export function shownErrorOf(thrown: unknown): ShownError {
  if (thrown instanceof ShownError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new ShownError({
    code: 'internal',
    message: `The page failed: ${text}`,
    hint: 'Reload the page. If it fails again, send this message to the operator.',
    requestId: null,
  });
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
