import type { NodeRecord } from '../node-record.ts';
import type { Value } from '../node-rules.ts';
import { indexOf } from './node-index.ts';
import { predicates } from './predicates.ts';

/** What is said of a node, as Dgraph takes it: values with their type, so that no text is ever read for something else. */
export type Quad = {
  readonly subject: string;
  readonly predicate: string;
} & (
  | { readonly kind: 'value'; readonly value: Exclude<Value, null> }
  | { readonly kind: 'edge'; readonly target: string }
  /** To be taken away. */
  | { readonly kind: 'every' }
);

/** How Dgraph calls all values of a predicate, and all predicates of a node. */
export const every = '_STAR_ALL';

export interface Change {
  readonly set: readonly Quad[];
  readonly remove: readonly Quad[];
}

/** Everything of a new node. */
export function newNodeQuads(subject: string, node: NodeRecord): Quad[] {
  const { type, id, version, workspace, values } = node;
  const { texts, marks, fences } = indexOf(node);
  return [
    quad(subject, 'dgraph.type', type),
    quad(subject, predicates.id(type), id),
    quad(subject, predicates.version(type), version),
    ...(workspace === null ? [] : [quad(subject, predicates.workspace(type), workspace)]),
    ...Object.entries(values).flatMap(([field, value]) =>
      value === null ? [] : [quad(subject, predicates.of(type, field), value)],
    ),
    ...[...texts].map(([predicate, text]) => quad(subject, predicate, text)),
    ...[...marks].map((mark) => quad(subject, predicates.marks(type), mark)),
    ...[...fences].map((fence) => quad(subject, predicates.fences(type), fence)),
  ];
}

/** What differs between a node and what it becomes. The version always does: two who change the same node find out by it. */
export function changedNodeQuads(subject: string, before: NodeRecord, after: NodeRecord): Change {
  const { type } = before;
  const [was, is] = [indexOf(before), indexOf(after)];
  const texts = [...difference(is.texts, was.texts)];
  const changed = Object.entries(after.values).filter(([field, value]) => before.values[field] !== value);
  const lists = [
    { predicate: predicates.marks(type), was: was.marks, is: is.marks },
    { predicate: predicates.fences(type), was: was.fences, is: is.fences },
  ];
  return {
    set: [
      quad(subject, predicates.version(type), after.version),
      ...changed.flatMap(([field, value]) =>
        value === null ? [] : [quad(subject, predicates.of(type, field), value)],
      ),
      ...texts.map(([predicate, text]) => quad(subject, predicate, text)),
      ...lists.flatMap(({ predicate, was, is }) =>
        [...is.difference(was)].map((text) => quad(subject, predicate, text)),
      ),
    ],
    remove: [
      ...changed.flatMap(([field, value]) => (value === null ? [allOf(subject, predicates.of(type, field))] : [])),
      ...[...was.texts.keys()].flatMap((predicate) => (is.texts.has(predicate) ? [] : [allOf(subject, predicate)])),
      ...lists.flatMap(({ predicate, was, is }) =>
        [...was.difference(is)].map((text) => quad(subject, predicate, text)),
      ),
    ],
  };
}

/** Every value of a node and every edge from it. */
export function wholeNode(subject: string): Quad {
  return allOf(subject, every);
}

/** Every value of it. */
export function allOf(subject: string, predicate: string): Quad {
  return { kind: 'every', subject, predicate };
}

export function edgeQuad(subject: string, predicate: string, target: string): Quad {
  return { kind: 'edge', subject, predicate, target };
}

export function quad(subject: string, predicate: string, value: Exclude<Value, null>): Quad {
  return { kind: 'value', subject, predicate, value };
}

function difference(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...one].filter(([key, value]) => other.get(key) !== value));
}
