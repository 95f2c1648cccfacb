import type { Definition } from './definition.ts';

/** Whether `svc up` starts Dgraph: neither a file, nor external. */
export function hasOwnGraph({ graph, graphdb }: Pick<Definition, 'graph' | 'graphdb'>): boolean {
  return graph === 'dgraph' && graphdb.url === 'auto';
}
