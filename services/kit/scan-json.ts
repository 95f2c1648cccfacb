/** No message needs more levels, and every later reader may recurse. */
export const jsonDepthMax = 512;

/** Result of `scanJson` when no value ends: negative, which a position is not. */
export const notJson = -1;
export const tooDeep = -2;

/**
 * End of the JSON value (RFC 8259) that begins at `from`, after white space. One pass without a copy proves that it is
 * well-formed and nested at most `jsonDepthMax` levels. The caller checks UTF-8 (`isUtf8`).
 */
export function scanJson(bytes: Uint8Array, from = 0): number {
  const { length } = bytes;
  let at = from;
  /** Whether each open level is an object. */
  const isObject: boolean[] = [];
  /** The token that may come next. */
  let next = value;
  for (;;) {
    let byte = at < length ? (bytes[at] ?? 0) : 0;
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = ++at < length ? (bytes[at] ?? 0) : 0;
    switch (byte) {
      case quote:
        if ((next & (value | name)) === 0) return notJson;
        at = endOfString(bytes, at + 1);
        if (at < 0) return notJson;
        if ((next & name) !== 0) {
          at = skipSpace(bytes, at);
          if (bytes[at] !== colon) return notJson;
          at++;
          next = value;
          continue;
        }
        break;
      case openBrace:
      case openBracket:
        if ((next & value) === 0) return notJson;
        if (isObject.length >= jsonDepthMax) return tooDeep;
        isObject.push(byte === openBrace);
        next = byte === openBrace ? name | close : value | close;
        at++;
        continue;
      case closeBrace:
      case closeBracket:
        if ((next & close) === 0 || isObject.pop() !== (byte === closeBrace)) return notJson;
        at++;
        break;
      case comma:
        if ((next & separator) === 0) return notJson;
        next = isObject[isObject.length - 1] === true ? name : value;
        at++;
        continue;
      default:
        if ((next & value) === 0) return notJson;
        at = byte === 45 || (byte >= zero && byte <= nine) ? endOfNumber(bytes, at) : endOfWord(bytes, at);
        if (at < 0) return notJson;
    }
    // A value has ended.
    if (isObject.length === 0) return at;
    next = separator | close;
  }
}

/** Whether the bytes are one JSON value and nothing else. */
export function isJson(bytes: Uint8Array): boolean {
  const end = scanJson(bytes);
  return end >= 0 && skipSpace(bytes, end) === bytes.length;
}

const value = 1;
const name = 2;
const close = 4;
const separator = 8;

const quote = 34;
const comma = 44;
const zero = 48;
const nine = 57;
const colon = 58;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** 1 for a byte that ends a run of plain characters in a string: a quote, a backslash, a control character. */
const special = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 32 || byte === quote || byte === backslash ? 1 : 0,
);
/** 1 for a byte that may follow a backslash, except `u`. */
const escapable = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** Longer strings are scanned four bytes at a time: those are most of a large result. */
const shortBytes = 24;

/** Position after the closing quote; negative when the string is malformed. `from` is after the opening quote. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  for (let at = from; ; ) {
    const soon = Math.min(length, at + shortBytes);
    while (at < soon && special[bytes[at] ?? 0] === 0) at++;
    if (at === soon && at < length) {
      at = skipPlain(bytes, at);
      while (at < length && special[bytes[at] ?? 0] === 0) at++;
    }
    if (bytes[at] === quote) return at + 1;
    if (bytes[at] !== backslash) return notJson;
    const escaped = bytes[at + 1] ?? 0;
    if (escapable[escaped] === 1) at += 2;
    else if (escaped === 117 && areHex(bytes, at + 2)) at += 6;
    else return notJson;
  }
}

/**
 * Skips up to four bytes before the first special one, or before the end. A byte of a word that is zero, or less than
 * 32, borrows from its highest bit when that is subtracted from it.
 */
function skipPlain(bytes: Uint8Array, from: number): number {
  const offset = bytes.byteOffset;
  const first = (offset + from + 3) >> 2;
  const count = ((offset + bytes.length) >> 2) - first;
  if (count <= 0) return from;
  for (let at = from; at < first * 4 - offset; at++) if (special[bytes[at] ?? 0] === 1) return at;
  const words = new Int32Array(bytes.buffer, first * 4, count);
  let at = 0;
  for (; at < count; at++) {
    const word = words[at] ?? 0;
    const quotes = word ^ 0x22222222;
    const backslashes = word ^ 0x5c5c5c5c;
    const found =
      ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes) | ((word - 0x20202020) & ~word);
    if ((found & 0x80808080) !== 0) break;
  }
  return (first + at) * 4 - offset;
}

function areHex(bytes: Uint8Array, from: number): boolean {
  for (let at = from; at < from + 4; at++) {
    const byte = bytes[at] ?? 0;
    const isHex = (byte >= zero && byte <= nine) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);
    if (!isHex) return false;
  }
  return true;
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === 45 ? from + 1 : from;
  if (bytes[at] === zero) at++;
  else at = endOfDigits(bytes, at);
  if (at >= 0 && bytes[at] === 46) at = endOfDigits(bytes, at + 1);
  if (at >= 0 && (bytes[at] === 101 || bytes[at] === 69)) {
    const sign = bytes[at + 1];
    at = endOfDigits(bytes, sign === 43 || sign === 45 ? at + 2 : at + 1);
  }
  return at;
}

/** Negative when there is no digit. */
function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < zero || byte > nine) break;
  }
  return at === from ? notJson : at;
}

const words = ['true', 'false', 'null'].map((word) => Buffer.from(word));

function endOfWord(bytes: Uint8Array, from: number): number {
  for (const word of words) {
    if (word.every((byte, at) => bytes[from + at] === byte)) return from + word.length;
  }
  return notJson;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break;
  }
  return at;
}
