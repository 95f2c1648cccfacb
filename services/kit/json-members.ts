/** A member of a JSON object: its name, and the position of its value's text. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface Located {
  readonly members: readonly Member[];
  /** Upper bound of the values in the text: an empty object of two bytes takes sixty in memory. */
  readonly values: number;
}

/** Why the members cannot be read: the text is not an object, is nested too deep, or holds too many values. */
export type Unreadable = 'malformed' | 'too_deep' | 'too_many';

/** No message needs more, and every later reader may recurse. */
export const depthMax = 128;
/** Parsing this many takes 20 ms, for which all other requests wait. */
export const valuesMax = 100_000;
/** Memory of a parsed value, besides its text. */
export const valueBytes = 64;

/**
 * Locates the members of a JSON object, so that their text can be passed on unchanged: numbers stay exact and large
 * values are not rewritten. It only locates: `JSON.parse` decides whether the text is valid. Equal names are all
 * reported, in order; the last one counts, as in `JSON.parse`.
 */
export function locateMembers(text: string): Located | Unreadable {
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== openBrace) return 'malformed';
  const members: Member[] = [];
  const count = { values: 1 };
  at = skipSpace(text, at + 1);
  if (text.charCodeAt(at) === closeBrace) return { members, values: count.values };
  for (;;) {
    if (text.charCodeAt(at) !== quote) return 'malformed';
    const nameEnd = endOfString(text, at);
    const colon = nameEnd < 0 ? nameEnd : skipSpace(text, nameEnd);
    if (colon < 0 || text.charCodeAt(colon) !== colonSign) return 'malformed';
    const name = readName(text.slice(at + 1, nameEnd - 1));
    const start = skipSpace(text, colon + 1);
    const end = endOfValue(text, start, count);
    if (name === null || end === 0) return 'malformed';
    if (end < 0) return 'too_deep';
    if (count.values > valuesMax) return 'too_many';
    members.push({ name, start, end });
    at = skipSpace(text, end);
    const separator = text.charCodeAt(at);
    if (separator === closeBrace) return { members, values: count.values };
    if (separator !== comma) return 'malformed';
    at = skipSpace(text, at + 1);
  }
}

/** The text of each member's value, the last of equal names only; null when the text is not an object. */
export function memberTexts(text: string): Map<string, string> | null {
  const located = locateMembers(text);
  if (typeof located === 'string') return null;
  const texts = new Map<string, string>();
  for (const { name, start, end } of located.members) texts.set(name, text.slice(start, end));
  return texts;
}

export function writeMembers(texts: Iterable<readonly [string, string]>): string {
  let written = '';
  for (const [name, text] of texts) written += `${written === '' ? '{' : ','}${JSON.stringify(name)}:${text}`;
  return written === '' ? '{}' : `${written}}`;
}

const quote = 34;
const comma = 44;
const colonSign = 58;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/**
 * End of the value that begins at `start`; 0 when it has none, negative when it is too deep. Adds its values to the
 * count.
 */
function endOfValue(text: string, start: number, count: { values: number }): number {
  let depth = 0;
  count.values++;
  for (let at = start; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at);
        if (end < 0) return 0;
        if (depth === 0) return end;
        at = end - 1;
        break;
      }
      case openBrace:
      case openBracket:
        if (++depth >= depthMax) return -1;
        count.values++;
        break;
      case closeBrace:
      case closeBracket:
        if (depth === 0) return at === start ? 0 : at;
        if (--depth === 0) return at + 1;
        break;
      case comma:
        if (depth === 0) return at === start ? 0 : at;
        if (++count.values > valuesMax) return at;
        break;
      case 32:
      case 9:
      case 10:
      case 13:
        if (depth === 0) return at;
        break;
    }
  }
  return 0;
}

/** Position after the closing quote of the string that begins at `start`; -1 when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return -1;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** A name may be written with escapes and is still the same name. */
function readName(raw: string): string | null {
  if (!raw.includes('\\')) return raw;
  try {
    const name: unknown = JSON.parse(`"${raw}"`);
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}
