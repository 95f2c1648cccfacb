import { idPrefixes } from '../../../contracts/ids.ts';
import type { NodeRecord } from '../node-record.ts';
import { typeNamed, type Value } from '../node-rules.ts';
import { idKindOf, type TypeName } from '../schema.ts';
import { wordsOf } from '../search-words.ts';
import type { CheckedCondition, CheckedSelection } from '../selection-rules.ts';
import { everyId, keyOf } from './node-index.ts';
import { compareKeys, type Stretch, stretches } from './order-key.ts';
import { predicates } from './predicates.ts';

/** A stretch of one index that a selection is read along. */
export interface Leg {
  readonly predicate: string;
  /** The field or order of the keys. */
  readonly by: string;
  readonly stretch: Stretch;
  /** The key at which the previous page ended: this page begins after it. */
  readonly behind: string | null;
}

/** The legs of a selection, in order. Nodes without a value are in a separate, last leg. */
export function legsOf(selection: CheckedSelection): readonly Leg[] {
  const { type, workspace, orderBy, nullable, conditions } = selection;
  const scope = workspace ?? '';
  if (orderBy === 'id') {
    if (isEverywhere(selection)) return [legOf(selection, everyId, everyIdOf(type))];
    const only = equality(conditions);
    // Keys with the same value are in the order of ids.
    if (only !== undefined) return [legOf(selection, only.field, stretches.equal(scope, only.value), only.value)];
    return [
      typeNamed(type).owned ? legOf(selection, 'id', stretches.ids(scope)) : legOf(selection, everyId, everyIdOf(type)),
    ];
  }
  const { after } = selection;
  const isBehindValues = after !== null && after.value === null;
  const isValued = conditions.some(({ field }) => field === orderBy);
  const valued = conditions
    .flatMap((condition) => stretchOf(condition, orderBy, scope) ?? [])
    .reduce(overlap, stretches.withValue(scope));
  return [
    ...(isBehindValues ? [] : [legOf(selection, orderBy, valued)]),
    ...(nullable && !isValued
      ? [legOf(isBehindValues ? selection : { ...selection, after: null }, orderBy, stretches.withNone(scope))]
      : []),
  ];
}

function legOf(
  { type, workspace, orderBy, after, descending }: CheckedSelection,
  by: string,
  whole: Stretch,
  value?: Value,
): Leg {
  const predicate = by === everyId ? predicates.id(type) : predicates.order(type, by);
  if (after === null) return { predicate, by, stretch: whole, behind: null };
  // The last node of the previous page, as far as the cursor tells.
  const values = { [by]: value ?? (orderBy === 'id' ? null : after.value) };
  const key = keyOf({ type, id: after.id, version: 1, workspace, values }, by);
  const isHere = compareKeys(key, whole.from) >= 0 && compareKeys(key, whole.to) <= 0;
  if (isHere)
    return { predicate, by, stretch: descending ? { ...whole, to: key } : { ...whole, from: key }, behind: key };
  const isBefore = compareKeys(key, whole.from) < 0;
  // A cursor of other conditions.
  return { predicate, by, stretch: isBefore === descending ? nowhere(whole) : whole, behind: null };
}

function nowhere({ from }: Stretch): Stretch {
  return { from, to: '' };
}

/** Whether a selection of an owned type reads all workspaces. */
export function isEverywhere({ type, workspace }: CheckedSelection): boolean {
  return workspace === null && typeNamed(type).owned;
}

/** The stretch that a condition leaves of the index of `field`; null for a condition on another field, or with several stretches. */
export function stretchOf(condition: CheckedCondition, field: string, scope: string): Stretch | null {
  if (condition.field !== field) return null;
  switch (condition.kind) {
    case 'in':
      return condition.values.length === 1 ? stretches.equal(scope, condition.values[0] ?? null) : null;
    case 'prefix':
      return stretches.beginning(scope, condition.prefix);
    case 'range':
      return stretches.between(scope, condition.from, condition.below);
  }
}

/** Whether the selection contains a node. */
export function matches({ workspace, conditions, words, type }: CheckedSelection, node: NodeRecord): boolean {
  if (workspace !== null && node.workspace !== workspace) return false;
  if (!conditions.every((condition) => holds(condition, node.values[condition.field] ?? null))) return false;
  if (words.length === 0) return true;
  const has = [...wordsOf(typeNamed(type).search.map((field) => textOf(node.values[field] ?? null)))];
  return words.every((word) => has.some((own) => own.startsWith(word)));
}

/** The nodes on the legs, in order. */
export function inOrder<Node extends NodeRecord>(
  legs: readonly Leg[],
  descending: boolean,
  nodes: readonly Node[],
): Node[] {
  const placed = nodes.flatMap((node) => {
    const at = legs.findIndex((leg) => isOn(leg, keyOf(node, leg.by)));
    const leg = legs[at];
    return leg === undefined ? [] : [{ node, at, key: keyOf(node, leg.by) }];
  });
  const direction = descending ? -1 : 1;
  return placed
    .sort((one, other) => one.at - other.at || direction * compareKeys(one.key, other.key))
    .map(({ node }) => node);
}

export function isOn({ stretch, behind }: Leg, key: string): boolean {
  return key !== behind && compareKeys(key, stretch.from) >= 0 && compareKeys(key, stretch.to) <= 0;
}

function holds(condition: CheckedCondition, value: Value): boolean {
  if (value === null) return false;
  switch (condition.kind) {
    case 'in':
      return condition.values.includes(value);
    case 'prefix':
      return typeof value === 'string' && value.startsWith(condition.prefix);
    case 'range':
      return (
        typeof value === 'number' &&
        (condition.from === null || value >= condition.from) &&
        (condition.below === null || value < condition.below)
      );
  }
}

function equality(conditions: readonly CheckedCondition[]): { field: string; value: Value } | undefined {
  const [only] = conditions.flatMap((condition) =>
    condition.kind === 'in' && condition.values.length === 1
      ? [{ field: condition.field, value: condition.values[0] ?? null }]
      : [],
  );
  return only;
}

function everyIdOf(type: TypeName): Stretch {
  return stretches.everyId(`${idPrefixes[idKindOf[type]]}_`);
}

function overlap(one: Stretch, other: Stretch): Stretch {
  return {
    from: compareKeys(one.from, other.from) > 0 ? one.from : other.from,
    to: compareKeys(one.to, other.to) < 0 ? one.to : other.to,
  };
}

function textOf(value: Value): string | null {
  return value === null ? null : String(value);
}
