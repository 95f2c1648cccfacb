import { SvcError } from '../../../services/contracts/errors.ts';
import type { Definition } from '../../definition/definition.ts';
import { dataOf } from '../../graph/graph-parts.ts';
import { judgeLostNodes } from '../../graph/judge-lost-nodes.ts';
import { nodeKinds, nodesOf } from '../../graph/node-data.ts';
import { prefixOf } from './names.ts';

export interface LostVolumes {
  readonly definition: Definition;
  /** Volumes that the platform had, by name. */
  readonly gone: readonly string[];
  readonly there: ReadonlySet<string>;
}

/**
 * Refuses to make a volume anew of which other nodes of Dgraph still have the data: its node would rejoin empty. Where no node has data, the
 * whole graph is gone, which is no matter of single nodes.
 */
export function refuseLostNodes({ definition, gone, there }: LostVolumes): void {
  const volumeOf = (node: string) => `${prefixOf(definition)}-${node}`;
  const lost = nodeKinds.flatMap((kind) => nodesOf(kind, definition)).filter((node) => gone.includes(volumeOf(node)));
  const losses = lost.map((node) => ({ path: dataOf(node), since: '' }));
  const judged = judgeLostNodes(definition, losses, (_, node) => there.has(volumeOf(node)));
  const volumes = Object.values(judged).flatMap((nodes: (typeof judged)['keptOut']) =>
    nodes.map(({ node }) => volumeOf(node)),
  );
  if (volumes.length === 0) return;
  const named = volumes.map((name) => `the volume ${name}`).join(' and ');
  throw new SvcError(
    'not_found',
    `Data of this installation is gone: ${named}. A node of Dgraph is not started without its data.`,
    {
      hint: 'Restore the volumes of all nodes of Dgraph from one moment. To begin with an empty graph, remove them all first, then svc up --start-empty.',
    },
  );
}
