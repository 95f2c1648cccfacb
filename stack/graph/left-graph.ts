import type { Definition } from '../settings/definition.ts';
import type { KeptBy } from './kept-by.ts';

/** Notice for an installation whose svc.yaml names an unused graph while another graph has data: that data is kept, but not shown. */
export function leftGraph({ graph }: Pick<Definition, 'graph'>, keptBy: KeptBy): readonly string[] {
  const kept = { sqlite: keptBy('backend'), dgraph: keptBy('dgraph-alpha') };
  const other = graph === 'sqlite' ? 'dgraph' : 'sqlite';
  if (kept[graph].isThere || !kept[other].isThere) return [];
  return [
    `graph: ${graph} begins empty. What is there already stays in ${kept[other].place}: graph: ${other} in svc.yaml goes back to it, and svc move --graph ${graph} then brings it along.`,
  ];
}
