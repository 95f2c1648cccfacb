import { type Position, parseCursor } from './cursor.ts';
import type { Selection } from './graph.ts';
import { pageMax } from './graph.ts';
import { checkAnchor, checkLimit, checkValue, fieldKind, invalid, typeNamed, type Value } from './node-rules.ts';
import type { TypeName } from './schema.ts';
import { wordsOfSearch } from './search-words.ts';

/** A checked selection: every name is in the schema, every value of its field's kind. */
export interface CheckedSelection {
  readonly type: TypeName;
  /** Null: all workspaces. */
  readonly workspace: string | null;
  readonly conditions: readonly CheckedCondition[];
  /** Beginnings of words. */
  readonly words: readonly string[];
  /** A field, or `id`. */
  readonly orderBy: string;
  /** Nodes without a value come last, in both directions. */
  readonly nullable: boolean;
  readonly descending: boolean;
  readonly limit: number;
  readonly after: Position | null;
}

export type CheckedCondition =
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Value[] }
  | { readonly kind: 'prefix'; readonly field: string; readonly prefix: string }
  | { readonly kind: 'range'; readonly field: string; readonly from: number | null; readonly below: number | null };

interface LooseCondition {
  readonly field: string;
  readonly equals?: unknown;
  readonly in?: readonly unknown[];
  readonly prefix?: unknown;
  readonly from?: unknown;
  readonly below?: unknown;
}

export function checkSelection<Type extends TypeName>(selection: Selection<Type>): CheckedSelection {
  const { type: typeName, where = [], search = '', orderBy, descending = false, after } = selection;
  const type = typeNamed(typeName);
  const order = orderBy === undefined ? 'id' : indexed(typeName, orderBy);
  const workspace = checkAnchor(typeName, selection.anchor);
  if (type.owned && workspace === null && order !== 'id') {
    throw invalid(`Over all workspaces a ${typeName} has its place by id only, not by "${order}".`);
  }
  const words = wordsOfSearch(search);
  if (words.length > 0 && type.search.length === 0) throw invalid(`A ${typeName} cannot be searched by words.`);
  const position = after === undefined ? null : parseCursor({ type: typeName, orderBy: order, descending }, after);
  if (position !== null) checkPosition(typeName, order, position);
  return {
    type: typeName,
    workspace,
    conditions: where.map((condition) => checkCondition(typeName, condition)),
    words,
    orderBy: order,
    nullable: order !== 'id' && fieldKind(typeName, order).endsWith('?'),
    descending,
    limit: checkLimit(selection.limit),
    after: position,
  };
}

function checkCondition(typeName: string, condition: LooseCondition): CheckedCondition {
  const field = indexed(typeName, condition.field);
  const value = (given: unknown) => checkValue(typeName, field, fieldKind(typeName, field), given);
  const number = (given: unknown) => {
    const checked = given === undefined ? null : value(given);
    if (checked === null || typeof checked === 'number') return checked;
    throw invalid(`"${field}" of a ${typeName} has no range: it is not a number.`);
  };
  if (condition.equals !== undefined) return { kind: 'in', field, values: [value(condition.equals)] };
  if (condition.in !== undefined) {
    if (condition.in.length > pageMax) {
      throw invalid(`"${field}" is compared with ${condition.in.length} values: the limit is ${pageMax}.`);
    }
    return { kind: 'in', field, values: condition.in.map(value) };
  }
  if (condition.prefix !== undefined) {
    const prefix = value(condition.prefix);
    if (typeof prefix !== 'string') throw invalid(`"${field}" of a ${typeName} has no prefix: it is not text.`);
    return { kind: 'prefix', field, prefix };
  }
  const range = { from: number(condition.from), below: number(condition.below) };
  if (range.from === null && range.below === null) throw invalid(`"${field}" is compared with nothing.`);
  return { kind: 'range', field, ...range };
}

function indexed(typeName: string, field: string): string {
  if (typeNamed(typeName).index.includes(field)) return field;
  throw invalid(`"${field}" is not an indexed field of a ${typeName}: nodes cannot be chosen or ordered by it.`);
}

/** A cursor may be forged: its value must be one that the field can have. */
function checkPosition(typeName: string, order: string, position: Position): void {
  if (order === 'id') {
    if (position.value !== null) throw invalid('The cursor was not made by this selection.');
    return;
  }
  checkValue(typeName, order, fieldKind(typeName, order), position.value);
}
