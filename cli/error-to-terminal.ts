import { dockerRefusal } from '../services/contracts/docker.ts';
import { type ErrorCode, SvcError, toSvcError } from '../services/contracts/errors.ts';
import { withoutKeys } from '../services/contracts/keys.ts';
import { inWordsAlone } from '../services/contracts/system-words.ts';
import { fileFailure } from '../stack/state/file-failure.ts';
import type { Terminal } from './output/terminal.ts';

/** Exit codes of the command line, a contract with scripts: 1 failed, 2 wrong use, 3 refused, 4 not reachable, 5 conflict. */
const exitCodes: Record<ErrorCode, number> = {
  invalid_input: 2,
  unauthenticated: 3,
  forbidden: 3,
  not_found: 1,
  conflict: 5,
  too_large: 2,
  rate_limited: 1,
  timeout: 4,
  unavailable: 4,
  unsupported: 2,
  cancelled: 130,
  internal: 1,
};

export function exitCodeOf(error: SvcError): number {
  return exitCodes[error.code];
}

/** Prints an error, for people on stderr or for programs on stdout, and returns the exit code. */
export function errorToTerminal(thrown: unknown, terminal: Terminal, verbose: boolean): number {
  const error = endedPrompt(thrown) ?? fileFailure(thrown) ?? dockerRefusal(thrown) ?? toSvcError(thrown);
  const message = error.code === 'internal' ? withoutKeys(bugMessage(error)) : error.message;
  const hint = error.hint ?? (error.code === 'internal' ? 'Set SVC_DEBUG=1 to see where it happened.' : undefined);
  if (terminal.asJson) {
    terminal.json({ error: { code: error.code, message, ...(hint === undefined ? {} : { hint }) } });
  } else if (endedPrompt(thrown) === null) {
    const kind = error.code === 'cancelled' ? '' : `${terminal.paint('red', 'Error:')} `;
    terminal.complain(`${kind}${message}${hint === undefined ? '' : `\n${hint}`}`);
  }
  if (verbose && error.cause instanceof Error) {
    terminal.complain(withoutKeys(error.cause.stack ?? error.cause.message));
  }
  return exitCodeOf(error);
}

/** Ctrl-C at a prompt is not a failure. */
export function endsPrompt(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'ExitPromptError';
}

function endedPrompt(thrown: unknown): SvcError | null {
  return endsPrompt(thrown) ? new SvcError('cancelled', 'Interrupted.') : null;
}

/** A bug may show its text here: only the person at this terminal reads it. */
function bugMessage(error: SvcError): string {
  return error.cause instanceof Error ? `${error.message} (${inWordsAlone(error.cause)})` : error.message;
}
