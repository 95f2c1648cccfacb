import { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../state/installation.ts';
import { lockHolder } from '../../state/lock.ts';
import { type MoveState, readMove } from './move-state.ts';
import { sideName } from './side.ts';

/** What `svc up` does with a move that a killed command left in this phase; null where the move waits for the operator's decision. */
const settled: Readonly<Record<MoveState['phase'], string | null>> = {
  preparing: 'takes it back',
  switching: 'finishes it',
  moved: null,
  confirming: 'finishes it',
  undoing: 'finishes it',
};

/** A move that was cut short, and what brings it to an end, in words. Null where there is none, or a command is at work on it. */
export function describeInterruptedMove(installation: Installation): string | null {
  if (lockHolder(installation, 'command') !== null) return null;
  try {
    const state = readMove(installation);
    const next = state === null ? null : settled[state.phase];
    if (state === null || next === null) return null;
    return `The move from ${sideName(state.from)} to ${sideName(state.to)} that began at ${state.startedAt} was interrupted: svc up ${next}.`;
  } catch (error) {
    // A status is an answer, whatever another version has written.
    if (error instanceof SvcError) return error.message;
    throw error;
  }
}
