import { isObject } from '../../../contracts/is-object.ts';
import type { Node } from '../graph.ts';
import type { NodeRecord } from '../node-record.ts';
import { typeNamed, type Value, type Values } from '../node-rules.ts';
import type { FieldKind, TypeName } from '../schema.ts';
import { predicates } from './predicates.ts';

/** A node with its uid in Dgraph. */
export interface StoredNode extends NodeRecord {
  readonly uid: string;
}

/** The fields of a query that reads whole nodes. */
export function nodeFields(type: string): string {
  const { owned, fields } = typeNamed(type);
  const names = [predicates.id(type), predicates.version(type), ...(owned ? [predicates.workspace(type)] : [])];
  return ['uid', ...names, ...Object.keys(fields).map((field) => predicates.of(type, field))].join(' ');
}

/** The nodes in an answer. A record without an id is skipped: an edge may lead to a node that was just removed. */
export function nodesIn(type: string, answer: unknown): StoredNode[] {
  return listIn(answer).flatMap((raw) => storedNode(type, raw) ?? []);
}

export function listIn(answer: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(answer) ? answer.filter(isObject) : [];
}

/** The answer to `name(func: …) { count(uid) }`. */
export function countIn(answer: unknown): number {
  return Number(listIn(answer)[0]?.count ?? 0);
}

/** The record as a node of its type. Both follow the schema. */
export function toNode<Type extends TypeName>({ id, version, workspace, values }: NodeRecord): Node<Type> {
  return { id, version, ...(workspace === null ? {} : { workspace }), ...values } as unknown as Node<Type>;
}

function storedNode(type: string, raw: Readonly<Record<string, unknown>>): StoredNode | null {
  const { owned, fields } = typeNamed(type);
  const id = raw[predicates.id(type)];
  if (typeof id !== 'string' || typeof raw.uid !== 'string') return null;
  const entries = Object.entries(fields).map(([field, kind]) => [
    field,
    valueIn(raw[predicates.of(type, field)], kind),
  ]);
  return {
    uid: raw.uid,
    type,
    id,
    version: Number(raw[predicates.version(type)] ?? 1),
    workspace: owned ? String(raw[predicates.workspace(type)] ?? '') : null,
    values: Object.fromEntries(entries) as Values,
  };
}

/** A node that is older than a field gets the same default as in SQLite. */
function valueIn(raw: unknown, kind: FieldKind): Value {
  if (typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean') return raw;
  if (kind.endsWith('?')) return null;
  return kind === 'text' ? '' : kind === 'boolean' ? false : 0;
}
