import type { Value } from '../node-rules.ts';

/**
 * Order keys: texts whose bytes have the order of (workspace, value, id), so that a page is one stretch of an index.
 * NUL separates the three, because no value contains it.
 */
export interface Stretch {
  /** Inclusive, as `to` is. */
  readonly from: string;
  readonly to: string;
}

/** A workspace, or an empty text for types without one. */
export type Scope = string;

/** A longer text is ordered by its beginning and then by id: keys of an index must stay short. */
const orderedLengthMax = 500;
const hasValue = 'v';
const hasNone = 'x';
const nul = '\0';
const behindNul = '\u0001';

export function orderKey(scope: Scope, value: Value, id: string): string {
  return `${scope}${nul}${value === null ? hasNone : `${hasValue}${ordered(value)}`}${nul}${id}`;
}

export function idKey(scope: Scope, id: string): string {
  return `${scope}${nul}${id}`;
}

export const stretches = {
  ids: (scope: Scope): Stretch => ({ from: `${scope}${nul}`, to: `${scope}${behindNul}` }),
  everyId: (prefix: string): Stretch => ({ from: prefix, to: `${prefix}~` }),
  withValue: (scope: Scope): Stretch => ({ from: `${scope}${nul}${hasValue}`, to: `${scope}${nul}${next(hasValue)}` }),
  withNone: (scope: Scope): Stretch => ({ from: `${scope}${nul}${hasNone}`, to: `${scope}${nul}${next(hasNone)}` }),
  equal: (scope: Scope, value: Value): Stretch => {
    const start = `${scope}${nul}${hasValue}${ordered(value)}`;
    return { from: `${start}${nul}`, to: `${start}${behindNul}` };
  },
  beginning: (scope: Scope, prefix: string): Stretch => {
    const start = `${scope}${nul}${hasValue}${beginningOf(prefix)}`;
    return { from: start, to: behindAll(start) };
  },
  between: (scope: Scope, from: number | null, below: number | null): Stretch => {
    const all = stretches.withValue(scope);
    const start = `${scope}${nul}${hasValue}`;
    return {
      from: from === null ? all.from : `${start}${ordered(from)}`,
      // A key with the value `below` continues with NUL and an id, so it is greater.
      to: below === null ? all.to : `${start}${ordered(below)}`,
    };
  },
} as const;

/** Compares UTF-8 bytes, as Dgraph's indexes do. JavaScript compares UTF-16, which differs beyond U+FFFF. */
export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function ordered(value: Value): string {
  switch (typeof value) {
    case 'number':
      // Shifted to start at 0, with as many digits as the greatest number has.
      return (BigInt(value) + 2n ** 53n).toString().padStart(17, '0');
    case 'boolean':
      return value ? '1' : '0';
    case 'string':
      return beginningOf(value);
    default:
      return '';
  }
}

function beginningOf(text: string): string {
  if (text.length <= orderedLengthMax) return text;
  const cut = text.slice(0, orderedLengthMax);
  // A surrogate pair is not cut in half.
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** The first text after all texts that begin with `start`. */
function behindAll(start: string): string {
  const characters = [...start];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    if (last !== '\u{10ffff}') return [...characters, next(last)].join('');
  }
  throw new Error('an order key begins with more than the last of all characters');
}

function next(character: string): string {
  const code = (character.codePointAt(0) ?? 0) + 1;
  // Surrogates are no characters: U+E000 follows U+D7FF.
  return String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0xe000 : code);
}
