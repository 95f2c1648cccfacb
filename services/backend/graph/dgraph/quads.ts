import type { NodeRecord } from '../node-record.ts';
import type { Value } from '../node-rules.ts';
import { indexOf, type NodeIndex } from './node-index.ts';
import { predicates } from './predicates.ts';

/** A statement about a node. Values have their type, so that Dgraph reads no text as something else. */
export type Quad = {
  readonly subject: string;
  /** Null: all predicates. */
  readonly predicate: string | null;
} & (
  | { readonly kind: 'value'; readonly value: Exclude<Value, null> }
  | { readonly kind: 'edge'; readonly target: string }
  /** All values, to be removed. */
  | { readonly kind: 'every' }
);

export interface Change {
  readonly set: readonly Quad[];
  readonly remove: readonly Quad[];
}

/** The statements of a new node. */
export function newNodeQuads(subject: string, node: NodeRecord): readonly Quad[] {
  const { type, id, version, workspace, values } = node;
  return [
    quad(subject, 'dgraph.type', type),
    quad(subject, predicates.id(type), id),
    quad(subject, predicates.version(type), version),
    ...(workspace === null ? [] : [quad(subject, predicates.workspace(type), workspace)]),
    ...Object.entries(values).flatMap(([field, value]) =>
      value === null ? [] : [quad(subject, predicates.of(type, field), value)],
    ),
    ...indexChange(subject, type, { was: nothing, is: indexOf(node) }).set,
  ];
}

const nothing: NodeIndex = { texts: new Map(), marks: new Set(), fences: new Set() };

/** The statements that change a node. The version always changes, so that two changes of one node conflict. */
export function changedNodeQuads(subject: string, before: NodeRecord, after: NodeRecord): Change {
  const { type } = before;
  const index = indexChange(subject, type, { was: indexOf(before), is: indexOf(after) });
  const changed = Object.entries(after.values).filter(([field, value]) => before.values[field] !== value);
  return {
    set: [
      quad(subject, predicates.version(type), after.version),
      ...changed.flatMap(([field, value]) =>
        value === null ? [] : [quad(subject, predicates.of(type, field), value)],
      ),
      ...index.set,
    ],
    remove: [
      ...changed.flatMap(([field, value]) => (value === null ? [allOf(subject, predicates.of(type, field))] : [])),
      ...index.remove,
    ],
  };
}

/** The statements that change the index of a node. */
export function indexChange(
  subject: string,
  type: string,
  { was, is }: { readonly was: NodeIndex; readonly is: NodeIndex },
): Change {
  const lists = [
    { predicate: predicates.marks(type), was: was.marks, is: is.marks },
    { predicate: predicates.fences(type), was: was.fences, is: is.fences },
  ];
  const listed = (from: 'was' | 'is', to: 'was' | 'is') =>
    lists.flatMap((list) => [...list[to].difference(list[from])].map((text) => quad(subject, list.predicate, text)));
  const texts = [...is.texts].filter(([predicate, text]) => was.texts.get(predicate) !== text);
  const gone = [...was.texts.keys()].filter((predicate) => !is.texts.has(predicate));
  return {
    set: [...texts.map(([predicate, text]) => quad(subject, predicate, text)), ...listed('was', 'is')],
    remove: [...gone.map((predicate) => allOf(subject, predicate)), ...listed('is', 'was')],
  };
}

/** Every value of a node and every edge from it. */
export function wholeNode(subject: string): Quad {
  return { kind: 'every', subject, predicate: null };
}

/** Every value of one predicate. */
export function allOf(subject: string, predicate: string): Quad {
  return { kind: 'every', subject, predicate };
}

export function edgeQuad(subject: string, predicate: string, target: string): Quad {
  return { kind: 'edge', subject, predicate, target };
}

/** The statements as N-Quads (RDF 1.1), one a line. JSON escapes in a text whatever N-Quads demand to be escaped, and nothing that they lack. */
export function nQuads(quads: readonly Quad[]): string {
  return quads.map((quad) => `${nodeText(quad.subject)} ${predicateText(quad)} ${objectText(quad)} .`).join('\n');
}

function predicateText({ predicate }: Quad): string {
  return predicate === null ? '*' : `<${predicate}>`;
}

function objectText(quad: Quad): string {
  if (quad.kind === 'edge') return nodeText(quad.target);
  if (quad.kind === 'every') return '*';
  const { value } = quad;
  if (typeof value === 'string') return `${JSON.stringify(value)}^^<xs:string>`;
  return `"${value}"^^<${typeof value === 'number' ? 'xs:int' : 'xs:boolean'}>`;
}

function nodeText(name: string): string {
  return name.startsWith('_:') ? name : `<${name}>`;
}

export function quad(subject: string, predicate: string, value: Exclude<Value, null>): Quad {
  return { kind: 'value', subject, predicate, value };
}
