import { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../state/installation.ts';
import { readReplacement } from '../replace/replacement.ts';

/** Throws if an interrupted move or restore left the data between two places. */
export function refuseInterrupted(installation: Installation): void {
  const replacement = readReplacement(installation);
  if (replacement === null || replacement.step === 'waiting') return;
  throw new SvcError('conflict', `A ${replacement.command} was interrupted, and the data is between two places.`, {
    hint: 'The next start brings back the data before: svc up',
  });
}
