import { SvcError, toSvcError } from '../contracts/errors.ts';
import { randomText } from '../contracts/ids.ts';
import type { Logger } from './log.ts';

/**
 * Converts anything thrown into an error that may be shown. A bug is logged here, once, under an id; only the id is
 * shown.
 */
export function withBugReported(thrown: unknown, logger: Logger): SvcError {
  const error = toSvcError(thrown);
  if (error.code !== 'internal' || isReported(error)) return error;
  const bug = randomText(10);
  logger.error({ err: thrown, bug }, 'failed unexpectedly');
  return new SvcError('internal', `Something went wrong inside the platform (bug ${bug}).`, {
    hint: `Look for "${bug}" in the log: svc logs.`,
    cause: new Reported(),
  });
}

/** Replaces the cause of a bug that is already logged. */
class Reported {}

function isReported(error: SvcError): boolean {
  return error.cause instanceof Reported;
}
