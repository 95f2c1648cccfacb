import { SvcError } from '../../contracts/errors.ts';
import { type IdKind, parseId } from '../../contracts/ids.ts';
import { pageMax } from './graph.ts';
import { type FieldKind, idKindOf, type NodeType, schema, type TypeName } from './schema.ts';

/** Checks of every engine before any work: names must be in the schema, and values of the field's kind. */

export type Value = string | number | boolean | null;
export type Values = Readonly<Record<string, Value>>;

export interface UniqueKey {
  readonly fields: readonly string[];
  readonly values: readonly (string | number | boolean)[];
  /** The workspace in which it is unique; null if it is unique over all workspaces. */
  readonly workspace: string | null;
}

const types: Readonly<Record<string, NodeType>> = schema;

export function typeNamed(name: string): NodeType {
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type === undefined) throw invalid(`"${name}" is not a type of node.`);
  return type;
}

/** The workspace of a query, or null for all workspaces. */
export function checkAnchor(typeName: string, anchor: unknown): string | null {
  if (!typeNamed(typeName).owned) {
    if (anchor === null) return null;
    throw invalid(`A ${typeName} lies in no workspace: its anchor is null.`);
  }
  if (anchor === 'everywhere') return null;
  if (typeof anchor === 'string' && anchor !== '') return anchor;
  throw invalid(`A ${typeName} is reached through its workspace: the anchor is missing.`);
}

/** The values of a new node in the order of its type's fields. */
export function checkNode(typeName: TypeName, node: Readonly<Record<string, unknown>>): Values {
  const type = typeNamed(typeName);
  const known = new Set(['id', ...(type.owned ? ['workspace'] : []), ...Object.keys(type.fields)]);
  for (const name of Object.keys(node)) {
    // A new node may be a copy of another. Its version is ignored: every node begins at 1.
    if (!known.has(name) && name !== 'version') throw unknownField(typeName, name);
  }
  checkId(idKindOf[typeName], node.id);
  if (type.owned) checkId('workspace', node.workspace);
  return Object.fromEntries(
    Object.entries(type.fields).map(([name, kind]) => [name, checkValue(typeName, name, kind, node[name])]),
  );
}

/** Leaves out fields whose value is undefined. */
export function checkChanges(typeName: string, changes: Readonly<Record<string, unknown>>): Values {
  const checked: Record<string, Value> = {};
  for (const [name, value] of Object.entries(changes)) {
    if (value !== undefined) checked[name] = checkValue(typeName, name, fieldKind(typeName, name), value);
  }
  return checked;
}

/** The values must be those of one unique combination. None may be null: null is not unique. */
export function checkUnique(typeName: string, values: Readonly<Record<string, unknown>>, anchor: unknown): UniqueKey {
  const type = typeNamed(typeName);
  const workspace = checkAnchor(typeName, anchor);
  const names = Object.keys(values).filter((name) => values[name] !== undefined);
  const isAsked = (fields: readonly string[]) =>
    fields.length === names.length && fields.every((field) => names.includes(field));
  const everywhere = type.uniqueEverywhere?.find(isAsked) ?? (type.owned ? undefined : type.unique.find(isAsked));
  const fields = everywhere ?? type.unique.find(isAsked);
  if (fields === undefined) {
    throw invalid(`A ${typeName} is not unique by ${names.map((name) => `"${name}"`).join(' and ') || 'nothing'}.`);
  }
  if (everywhere === undefined && workspace === null) {
    throw invalid(
      `A ${typeName} is unique by "${fields.join('" and "')}" in its workspace only: the anchor must name it.`,
    );
  }
  return {
    fields,
    workspace,
    values: fields.map((field) =>
      notNull(field, checkValue(typeName, field, fieldKind(typeName, field), values[field])),
    ),
  };
}

/** The type of node that an edge leads to. */
export function checkEdge(from: string, edge: string): string {
  const edges = typeNamed(from).edges;
  const target = Object.hasOwn(edges, edge) ? edges[edge] : undefined;
  if (target === undefined) throw invalid(`A ${from} has no edge "${edge}".`);
  return target;
}

export function checkIds(ids: readonly string[]): void {
  if (ids.length > pageMax) throw invalid(`${ids.length} ids are more than the ${pageMax} that go at once.`);
}

export function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageMax) return limit;
  throw invalid(`A limit of "${limit}" is not possible: it must be a whole number from 1 to ${pageMax}.`);
}

export function fieldKind(typeName: string, name: string): FieldKind {
  const { fields } = typeNamed(typeName);
  const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (kind === undefined) throw unknownField(typeName, name);
  return kind;
}

export function checkValue(typeName: string, name: string, kind: FieldKind, value: unknown): Value {
  const wrong = (rule: string) => invalid(`"${name}" of a ${typeName} must be ${rule}.`);
  if (value === null && kind.endsWith('?')) return null;
  switch (kind) {
    case 'text':
    case 'text?':
      if (typeof value !== 'string') throw wrong('text');
      // Engines store UTF-8, in which half a surrogate pair would become another character.
      if (!value.isWellFormed() || value.includes('\0')) throw wrong('well-formed text without NUL');
      return value;
    case 'integer':
    case 'integer?':
    case 'time':
    case 'time?':
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong('a whole number');
      // Minus zero is not stored.
      return value + 0;
    case 'boolean':
      if (typeof value !== 'boolean') throw wrong('true or false');
      return value;
  }
}

export function invalid(message: string): SvcError {
  return new SvcError('invalid_input', message);
}

export function unknownField(typeName: string, name: string): SvcError {
  return invalid(`A ${typeName} has no field "${name}".`);
}

export function checkId(kind: IdKind, id: unknown): void {
  parseId(kind, typeof id === 'string' ? id : '');
}

function notNull(field: string, value: Value): string | number | boolean {
  if (value === null) throw invalid(`"${field}" is null, and null is not unique.`);
  return value;
}
