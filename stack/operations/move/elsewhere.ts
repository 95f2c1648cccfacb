import { emptyDgraph, isEmptyDgraph } from '../../../services/backend/graph/open-content.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { planOf } from '../../engines/plan-of.ts';
import { dgraphAddressOf } from '../../graph/dgraph-address.ts';
import type { Plan } from '../../plan/plan.ts';
import { readDefinition } from '../../settings/check.ts';
import type { Definition } from '../../settings/definition.ts';
import type { Installation } from '../../state/installation.ts';
import type { MoveState } from './move-state.ts';

interface Sides {
  readonly from: Plan;
  readonly to: Plan;
  readonly carries: { readonly graph: boolean };
}

/** Where a graph is that somebody else runs: it is not moved about, but filled, and emptied, in its place. */
export function graphElsewhere({ graph, graphdb }: Definition): string | null {
  return graph === 'dgraph' && graphdb.url !== 'auto' ? graphdb.url : null;
}

export function elsewhereOf({ from, to, carries }: Sides): MoveState['elsewhere'] {
  if (!carries.graph) return { left: null, filled: null };
  return { left: graphElsewhere(from.definition), filled: graphElsewhere(to.definition) };
}

/** What is there already would be mixed with what is carried, and lost when that is taken back. */
export async function refuseFilled(plan: Plan): Promise<void> {
  const url = graphElsewhere(plan.definition);
  if (url === null || (await isEmptyDgraph(dgraphAddressOf(plan)))) return;
  throw new SvcError(
    'conflict',
    `The Dgraph at ${url} has data of a platform already, and a move fills an empty one.`,
    {
      hint: 'Name an empty one in graphdb.url of svc.yaml, or have that one emptied. To use what is there: graph: dgraph in svc.yaml.',
    },
  );
}

/** Takes back what a move has put there. Where that can't be done it is told: nothing here depends on it. */
export async function emptyFilled(
  installation: Installation,
  { elsewhere: { filled } }: MoveState,
  onNotice: (message: string) => void,
): Promise<void> {
  if (filled === null) return;
  const stays = `What the move has put into the Dgraph at ${filled} is still there`;
  const definition = readDefinition(installation.definitionFile);
  if (definition.graphdb.url !== filled) {
    onNotice(`${stays}: svc.yaml names another one now.`);
    return;
  }
  try {
    const plan = planOf(installation, { ...definition, topology: 'distributed', graph: 'dgraph' });
    await emptyDgraph(dgraphAddressOf(plan));
  } catch (error) {
    onNotice(`${stays}: ${inWords(error)}`);
  }
}
