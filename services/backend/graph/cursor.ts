import type { Cursor } from './graph.ts';
import { invalid, type Value } from './node-rules.ts';

/** The end of a page: the ordering value and the id of its last node. */
export interface Position {
  readonly value: Value;
  readonly id: string;
}

/** The order of a cursor. A selection of another type, order or direction refuses the cursor. */
export interface CursorOrder {
  readonly type: string;
  readonly orderBy: string;
  readonly descending: boolean;
}

export function formatCursor(order: CursorOrder, position: Position): Cursor {
  const parts = [order.type, order.orderBy, order.descending, position.value, position.id];
  return Buffer.from(JSON.stringify(parts)).toString('base64url') as Cursor;
}

export function parseCursor(order: CursorOrder, cursor: string): Position {
  const [, , , value, id] = partsOf(cursor);
  if (typeof id === 'string' && isValue(value)) {
    const position = { value, id };
    if (formatCursor(order, position) === cursor) return position;
  }
  throw invalid(
    `"${cursor.slice(0, 60)}" is not where a page of these ended: use the cursor of the page before, with the same order.`,
  );
}

function partsOf(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function isValue(value: unknown): value is Value {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
