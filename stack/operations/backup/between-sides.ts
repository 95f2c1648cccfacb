import { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../state/installation.ts';
import { readMove } from '../move/move-state.ts';

/** Throws where an interrupted move left the data between two sides. */
export function refuseBetweenSides(installation: Installation): void {
  const move = readMove(installation);
  if (move === null || move.phase === 'moved') return;
  throw new SvcError('conflict', 'A move was interrupted, and the data is between two places.', {
    hint: 'The next start finishes it or takes it back: svc up',
  });
}
