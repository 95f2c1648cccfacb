import { typeNamed } from '../node-rules.ts';
import type { NodeType } from '../schema.ts';

/**
 * Names in Dgraph. A field or an edge is `<type>.<name>`, which people can use in their own queries. Names of indexes have a second dot,
 * which no name in the schema has.
 */
export const predicates = {
  id: (type: string) => `${type}.id`,
  version: (type: string) => `${type}.version`,
  workspace: (type: string) => `${type}.workspace`,
  /** A field or an edge. */
  of: (type: string, name: string) => `${type}.${name}`,
  /** The order key: see order-key.ts. */
  order: (type: string, by: string) => `${type}.order.${by}`,
  /** The workspace of a node, its indexed values and the beginnings of its words. */
  marks: (type: string) => `${type}.index.marks`,
  /** The order keys of some nodes, which delimit pieces of an index. */
  fences: (type: string) => `${type}.index.fences`,
  /** The digest of a unique value. Dgraph writes unique values into a query unescaped, where only letters and digits are safe. */
  unique: (type: string, fields: readonly string[]) => `${type}.unique.${fields.join('.')}`,
} as const;

/** Whether a predicate is an index and holds no value of a field. */
export function isIndex(predicate: string): boolean {
  return predicate.split('.').length > 2;
}

export interface UniqueCombination {
  readonly fields: readonly string[];
  /** Unique in each workspace, not over all of them. */
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

/** The fields that nodes of a type are ordered by within a workspace. Over all workspaces `<type>.id` orders them. */
export function ordersOf(name: string, { owned, index }: NodeType = typeNamed(name)): readonly string[] {
  return owned ? ['id', ...index] : index;
}
