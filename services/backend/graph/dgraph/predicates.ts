import { typeNamed } from '../node-rules.ts';
import type { NodeType } from '../schema.ts';

/**
 * What is called how in Dgraph. A field or an edge is `<type>.<name>`, as people write it in a query of their own; what is only there to
 * find nodes by has a second dot, which no name in the schema has.
 */
export const predicates = {
  id: (type: string) => `${type}.id`,
  version: (type: string) => `${type}.version`,
  workspace: (type: string) => `${type}.workspace`,
  /** A field or an edge. */
  of: (type: string, name: string) => `${type}.${name}`,
  /** Text by which nodes are in order: see order-key.ts. */
  order: (type: string, by: string) => `${type}.order.${by}`,
  /** What a node is found by: its workspace, its indexed values, the beginnings of its words. */
  marks: (type: string) => `${type}.index.marks`,
  /** The order keys of some nodes, which tell how far a page reaches. */
  fences: (type: string) => `${type}.index.fences`,
  /** A digest: Dgraph writes a unique value into a query of its own, where only letters and digits are safe. */
  unique: (type: string, fields: readonly string[]) => `${type}.unique.${fields.join('.')}`,
} as const;

/** Whether it is only there to find nodes by. */
export function isIndex(predicate: string): boolean {
  return predicate.split('.').length > 2;
}

export interface UniqueCombination {
  readonly fields: readonly string[];
  /** In each workspace by itself. */
  readonly inWorkspace: boolean;
  readonly predicate: string;
}

export function uniqueCombinations(
  name: string,
  { owned, unique, uniqueEverywhere = [] }: NodeType = typeNamed(name),
): readonly UniqueCombination[] {
  const named = (inWorkspace: boolean) => (fields: readonly string[]) => ({
    fields,
    inWorkspace,
    predicate: predicates.unique(name, fields),
  });
  return [...unique.map(named(owned)), ...uniqueEverywhere.map(named(false))];
}

/** The orders that nodes of a type are kept in; over all workspaces it is that of `<type>.id`. */
export function ordersOf(name: string, { owned, index }: NodeType = typeNamed(name)): readonly string[] {
  return owned ? ['id', ...index] : index;
}
