import { SvcError, toSvcError } from '../contracts/errors.ts';
import { randomText } from '../contracts/ids.ts';
import type { Logger } from './log.ts';

/**
 * Whatever was thrown, as an error that may be shown. A bug is logged here, once, under an id; what is shown is the id alone.
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

/** Stands in for the cause of a bug that is in the log already. */
class Reported {}

function isReported(error: SvcError): boolean {
  return error.cause instanceof Reported;
}
