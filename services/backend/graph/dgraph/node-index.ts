import { createHash } from 'node:crypto';
import type { NodeRecord } from '../node-record.ts';
import { typeNamed, type Value } from '../node-rules.ts';
import { wordsOf } from '../search-words.ts';
import { idKey, orderKey, type Scope } from './order-key.ts';
import { ordersOf, predicates, type UniqueCombination, uniqueCombinations } from './predicates.ts';

/** Raised with each change of the rules below: every node is then indexed again. */
export const nodeIndexVersion = 1;

/** The index entries of a node. All of them follow from the node. */
export interface NodeIndex {
  /** By predicate: order keys and unique digests. */
  readonly texts: ReadonlyMap<string, string>;
  readonly marks: ReadonlySet<string>;
  readonly fences: ReadonlySet<string>;
}

export function indexOf(node: NodeRecord): NodeIndex {
  const orders = ordersOf(node.type).map((by) => ({ by, key: keyOf(node, by) }));
  const texts = new Map(orders.map(({ by, key }) => [predicates.order(node.type, by), key]));
  for (const combination of uniqueCombinations(node.type)) {
    const digest = uniqueDigest(node, combination);
    if (digest !== null) texts.set(combination.predicate, digest);
  }
  const fenced = [...orders, { by: everyId, key: node.id }];
  return {
    texts,
    marks: new Set(marksOf(node)),
    fences: new Set(levelsOf(node.id).flatMap((level) => fenced.map(({ by, key }) => fenceOf(level, by, key)))),
  };
}

/** The name of the order over all workspaces, which is by id. */
export const everyId = 'every';

export function keyOf(node: NodeRecord, by: string): string {
  if (by === everyId) return node.id;
  const scope = node.workspace ?? '';
  return by === 'id' ? idKey(scope, node.id) : orderKey(scope, node.values[by] ?? null, node.id);
}

/** Null if a field has no value: null is not unique. */
export function uniqueDigest(
  { workspace, values }: Pick<NodeRecord, 'workspace' | 'values'>,
  { fields, inWorkspace }: Pick<UniqueCombination, 'fields' | 'inWorkspace'>,
): string | null {
  const given = fields.map((field) => values[field] ?? null);
  return given.includes(null) ? null : digestOf(JSON.stringify([inWorkspace ? workspace : null, ...given]));
}

export const marks = {
  workspace: (workspace: Scope) => `@${workspace}`,
  value: (field: string, value: Value) => `${field}=${typeof value === 'string' ? short(value) : String(value)}`,
  /** The beginning of a word. */
  word: (beginning: string) => `~${beginning}`,
} as const;

function marksOf({ type, workspace, values }: NodeRecord): string[] {
  const { index, search } = typeNamed(type);
  const texts = search.map((field) => values[field] ?? null).map((value) => (value === null ? null : String(value)));
  return [
    ...(workspace === null ? [] : [marks.workspace(workspace)]),
    ...index.flatMap((field) => (values[field] == null ? [] : [marks.value(field, values[field])])),
    ...[...wordsOf(texts)].flatMap((word) => beginningsOf(word).map(marks.word)),
  ];
}

function beginningsOf(word: string): string[] {
  let beginning = '';
  return [...word].map((character) => {
    beginning += character;
    return beginning;
  });
}

/** One key of this many is a fence, and one fence of this many is a fence of the next level. */
export const fenceSpacing = 64;
/** With two levels, a hundred fences of the second span 400,000 nodes. */
export const fenceLevels = [1, 2] as const;
export type FenceLevel = (typeof fenceLevels)[number];

export function fenceOf(level: FenceLevel, by: string, key: string): string {
  return `${level}${by}\0${key}`;
}

/** A hash of the id decides, so that a writer needs no other node. */
function levelsOf(id: string): readonly FenceLevel[] {
  const chance = createHash('sha256').update(id).digest().readUInt32BE();
  return fenceLevels.filter((level) => chance % fenceSpacing ** level === 0);
}

/** Keys of an index must stay short: a longer value is marked by its digest. */
const markedLengthMax = 200;

function short(value: string): string {
  return value.length <= markedLengthMax ? `"${value}` : `#${digestOf(value)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
