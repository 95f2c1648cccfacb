import { parseKey } from '../../services/contracts/keys.ts';

/** A key as a person pasted it, without the text around it. */
export interface PastedKey {
  readonly text: string;
  /** Names of what stood around the key. An agent must send the key without it. */
  readonly leftOut: readonly string[];
}

const quotes: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”'],
  ['‘', '’'],
];
/** Characters without a width, which some pages copy along. */
const invisible = /[\u200b-\u200d\u2060\ufeff]/g;
/** More layers than a person writes: a header, quotes around it, quotes inside. */
const layersMax = 5;

/** Takes quotes, "Bearer", the name of the header or variable, spaces and line breaks away from a key. */
export function pastedKey(given: string): PastedKey {
  const leftOut = new Set<string>();
  const whole = given.replace(invisible, '');
  if (whole !== given) leftOut.add('invisible characters');
  const lines = whole.split(/\r?\n/).filter((line) => line.trim() !== '');
  const first = unwrapped(lines[0] ?? '', leftOut);
  if (parseKey(first).ok || lines.length < 2) return { text: first, leftOut: [...leftOut] };
  // A narrow terminal breaks a key into lines.
  const joined = unwrapped(lines.map((line) => line.trim()).join(''), leftOut);
  if (!parseKey(joined).ok) return { text: first, leftOut: [...leftOut] };
  return { text: joined, leftOut: [...leftOut, 'line breaks'] };
}

function unwrapped(line: string, leftOut: Set<string>): string {
  let text = line.trim();
  for (let layer = 0; layer < layersMax; layer++) {
    const inner = withoutOneLayer(text, leftOut);
    if (inner === text) break;
    text = inner;
  }
  return text;
}

function withoutOneLayer(text: string, leftOut: Set<string>): string {
  const [prefix, word = ''] = /^(Bearer(?=\s|$)|Authorization\s*:|(?:export\s+)?SVC_API_KEY\s*=)\s*/i.exec(text) ?? [];
  if (prefix !== undefined) {
    leftOut.add(/^bearer/i.test(word) ? '"Bearer"' : /^auth/i.test(word) ? '"Authorization:"' : '"SVC_API_KEY="');
    return text.slice(prefix.length);
  }
  const pair = quotes.find(([open, close]) => text.length > 1 && text.startsWith(open) && text.endsWith(close));
  if (pair === undefined) return text;
  leftOut.add('quotes');
  return text.slice(1, -1).trim();
}
