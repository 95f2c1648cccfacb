import { NQuad, Value } from 'dgraph-js';
import type { NodeRecord } from '../node-record.ts';
import type { Value as FieldValue } from '../node-rules.ts';
import { indexOf } from './node-index.ts';
import { predicates } from './predicates.ts';

/** What is to be written, as Dgraph takes it: values with their type, so that no text is ever read for something else. */

/** Everything of a new node. */
export function newNodeQuads(subject: string, node: NodeRecord): NQuad[] {
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

export interface NodeChange {
  readonly set: readonly NQuad[];
  readonly remove: readonly NQuad[];
}

/** What differs between a node and what it becomes. The version always does: two who change the same node find out by it. */
export function changedNodeQuads(subject: string, before: NodeRecord, after: NodeRecord): NodeChange {
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
export function wholeNode(subject: string): NQuad {
  return allOf(subject, star);
}

/** Every value of it. */
export function allOf(subject: string, predicate: string): NQuad {
  const every = new Value();
  every.setDefaultVal(star);
  const made = plain(subject, predicate);
  made.setObjectValue(every);
  return made;
}

export function edgeQuad(subject: string, predicate: string, target: string): NQuad {
  const made = plain(subject, predicate);
  made.setObjectId(target);
  return made;
}

export function quad(subject: string, predicate: string, value: Exclude<FieldValue, null>): NQuad {
  const object = new Value();
  if (typeof value === 'string') object.setStrVal(value);
  else if (typeof value === 'number') object.setIntVal(value);
  else object.setBoolVal(value);
  const made = plain(subject, predicate);
  made.setObjectValue(object);
  return made;
}

const star = '_STAR_ALL';

function plain(subject: string, predicate: string): NQuad {
  const made = new NQuad();
  made.setSubject(subject);
  made.setPredicate(predicate);
  return made;
}

function difference(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...one].filter(([key, value]) => other.get(key) !== value));
}
