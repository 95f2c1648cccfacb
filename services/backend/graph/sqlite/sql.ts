import type { Value } from '../node-rules.ts';
import type { SqlValue } from './connection.ts';

/** A piece of a statement with the values of its parameters. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export function quoted(name: string): string {
  return `"${name}"`;
}

export function sqlValue(value: Value): SqlValue {
  return typeof value === 'boolean' ? Number(value) : value;
}

export function equal(column: string, value: SqlValue): Sql {
  return { sql: `${column} = ?`, values: [value] };
}

export function all(conditions: readonly Sql[]): Sql {
  return {
    sql: conditions.map(({ sql }) => sql).join(' and ') || 'true',
    values: conditions.flatMap(({ values }) => values),
  };
}

export function beginsWith(column: string, prefix: string): Sql {
  const end = endOfPrefix(prefix);
  return all([
    { sql: `${column} >= ?`, values: [prefix] },
    ...(end === null ? [] : [{ sql: `${column} < ?`, values: [end] }]),
  ]);
}

/**
 * The first text after all texts with this prefix; null if there is none. Byte order of UTF-8 is the order of code
 * points.
 */
export function endOfPrefix(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    // Surrogates are no characters: the one after U+D7FF is U+E000.
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}
