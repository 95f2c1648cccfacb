const quote = 34;
const comma = 44;
const openBracket = 91;
const backslash = 92;
const openBrace = 123;

/**
 * Counts the values of a JSON text by its commas and opening brackets. So a text of too many values is refused before
 * it is parsed. Returns `max` plus one if there are more.
 */
export function countValues(json: Uint8Array, max: number): number {
  const { length } = json;
  let count = 1;
  let isInText = false;
  for (let at = 0; at < length && count <= max; at++) {
    const byte = json[at];
    if (isInText) {
      if (byte === backslash) at++;
      else if (byte === quote) isInText = false;
    } else if (byte === quote) isInText = true;
    else if (byte === comma || byte === openBrace || byte === openBracket) count++;
  }
  return count;
}
