import { SvcError } from '../../services/contracts/errors.ts';
import { isUp } from '../../stack/engines/engine-of.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { readRecord } from '../../stack/state/platform-record.ts';

/** Says what keeps running after an interrupted start. */
export function interruptedStart(installation: Installation, cause: unknown): SvcError {
  if (!isUp(installation)) {
    return new SvcError('cancelled', 'Interrupted. Nothing is left running.', { hint: 'Start it: svc up', cause });
  }
  const goesOn = readRecord(installation)?.isChanging ? ', and finishes what the command began' : '';
  return new SvcError('cancelled', `Interrupted. The platform is still running${goesOn}.`, {
    hint: 'See it: svc status. Stop it: svc down',
    cause,
  });
}

/** The stop that was begun goes on without the command. */
export function interruptedStop(installation: Installation, cause: unknown): SvcError {
  const message = isUp(installation) ? 'The platform is still stopping.' : 'The platform is stopped.';
  return new SvcError('cancelled', `Interrupted. ${message}`, { hint: 'See it: svc status', cause });
}
