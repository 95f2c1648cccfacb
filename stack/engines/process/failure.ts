import { SvcError } from '../../../services/contracts/errors.ts';
import { inWordsAlone } from '../../../services/contracts/system-words.ts';
import { isCode } from '../../state/durable-file.ts';
import type { Installation } from '../../state/installation.ts';
import { type Failure, writeFailure } from '../../state/platform-record.ts';
import type { StartFailure } from './start-failure.ts';

/** Records a failure for the next command. */
export function leaveFailure(installation: Installation, failure: StartFailure): void {
  try {
    writeFailure(installation, failureOf(failure));
  } catch {
    // The disk is probably full. The log has the failure too.
  }
}

/** Another program has the port. The same start may succeed on another port. */
export function takenPort(message: string): SvcError {
  const cause = Object.assign(new Error('its port is taken'), { code: 'EADDRINUSE' });
  return new SvcError('conflict', message, { cause });
}

export function failureOf({ part, check, error }: StartFailure): Failure {
  return {
    pid: process.pid,
    at: new Date().toISOString(),
    service: part,
    check,
    code: error.code,
    portTaken: isCode(error.cause, 'EADDRINUSE'),
    message: bugText(error) ?? error.message,
    hint: error.hint ?? null,
  };
}

export function bugText(error: SvcError): string | undefined {
  return error.code === 'internal' && error.cause instanceof Error ? inWordsAlone(error.cause) : undefined;
}
