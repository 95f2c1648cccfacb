import { nodesOf } from '../place/node-data.ts';
import type { Definition } from '../settings/definition.ts';
import type { KeptBy } from './kept-by.ts';

/**
 * Coordination nodes that keep their ports. Each remembers the addresses of the others, and a majority must find each other before a new
 * address can be told. A node that is alone needs no other.
 */
export function membersOf(definition: Definition, keptBy: KeptBy): ReadonlySet<string> {
  const members = nodesOf('dgraph-zero', definition).filter((node) => keptBy(node).isThere);
  return new Set(members.length > 1 ? members : []);
}
