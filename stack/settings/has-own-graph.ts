import type { Definition } from './definition.ts';

/** Whether the graph is a Dgraph that `svc up` starts: not a file, and not one that somebody else runs. */
export function hasOwnGraph({ graph, graphdb }: Pick<Definition, 'graph' | 'graphdb'>): boolean {
  return graph === 'dgraph' && graphdb.url === 'auto';
}
