import { SvcError } from '../../../services/contracts/errors.ts';
import { readDefinition } from '../../settings/check.ts';
import type { Installation } from '../../state/installation.ts';
import { readMove } from '../move/move-state.ts';

/** Throws where the data does not lie in files of this machine, or is on its way to another place. */
export function refuseOtherArrangements(installation: Installation, what: string): void {
  const { graph, engine } = readDefinition(installation.definitionFile);
  if (graph !== 'sqlite' || engine !== 'process') {
    const where = engine === 'docker' ? 'engine: docker' : `graph: ${graph}`;
    throw new SvcError(
      'unsupported',
      `${what} of a platform with ${where} is not part of this version: the data must be in SQLite, and the services must be processes.`,
      { hint: 'To bring the data there: svc move --graph sqlite --engine process' },
    );
  }
  const move = readMove(installation);
  if (move === null || move.phase === 'moved') return;
  throw new SvcError('conflict', 'A move was interrupted, and the data is between two places.', {
    hint: 'The next start finishes it or takes it back: svc up',
  });
}
