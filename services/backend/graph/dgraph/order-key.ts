import type { Value } from '../node-rules.ts';

/**
 * Order keys: text whose bytes are in the order of (workspace, value, id), so that a page is one stretch of an index. NUL parts them, which
 * no value has in it.
 */
export interface Stretch {
  /** Both ends belong to it. */
  readonly from: string;
  readonly to: string;
}

/** Nodes of a workspace, or, with an empty text, of a type that lies in none. */
export type Scope = string;

/** A longer text is in order by its beginning, and behind that by id: keys of an index must stay short. */
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
      // What is equal to `below` has a NUL and an id behind it.
      to: below === null ? all.to : `${start}${ordered(below)}`,
    };
  },
} as const;

/** In the order of their UTF-8, which is that of Dgraph's indexes; JavaScript's own differs beyond U+FFFF. */
export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function ordered(value: Value): string {
  switch (typeof value) {
    case 'number':
      // From 0 on, in as many digits as the greatest has.
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
  // Not in the middle of a character.
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** The first text behind all that begin with this one. */
function behindAll(start: string): string {
  const characters = [...start];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    if (last !== '\u{10ffff}') return [...characters, next(last)].join('');
  }
  throw new Error('an order key begins with more than the last of all characters');
}

function next(character: string): string {
  const code = (character.codePointAt(0) ?? 0) + 1;
  // No text has the halves of surrogate pairs by themselves.
  return String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0xe000 : code);
}
