import { emptyDgraph, isEmptyDgraph } from '../../../services/backend/graph/open-content.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { dgraphAddressOf } from '../../graph/dgraph-address.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';

/** The address of an external Dgraph: it is filled and emptied in its place. */
export function graphElsewhere({ graph, graphdb }: Definition): string | null {
  return graph === 'dgraph' && graphdb.url !== 'auto' ? graphdb.url : null;
}

/** Refuses data that a move would mix with its own, and lose when it is undone. */
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

/** Removes the data of a platform from an external Dgraph. */
export async function emptyElsewhere(plan: Plan): Promise<void> {
  if (graphElsewhere(plan.definition) !== null) await emptyDgraph(dgraphAddressOf(plan));
}
