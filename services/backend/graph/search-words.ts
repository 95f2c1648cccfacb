import { invalid } from './node-rules.ts';

/** How text becomes words, the same in every engine: without case, accents and punctuation. Raised when the rules change: words are then made anew. */
export const searchWordsVersion = 1;

/** A longer word is found by its beginning. */
const wordLengthMax = 64;
/** Of one node; what a text has beyond is not found by search. Keeps the index of a huge description small. */
const wordsMax = 500;
/** Of one search: each costs a look into the index per candidate. */
const searchWordsMax = 16;

export function wordsOf(texts: readonly (string | null)[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const word of split(text ?? '')) {
      if (words.size === wordsMax) return words;
      words.add(word);
    }
  }
  return words;
}

/** The beginnings that a search asks for. One that begins another is dropped: whatever has the longer has it too. */
export function wordsOfSearch(search: string): readonly string[] {
  const words = [...new Set(split(search))];
  if (words.length > searchWordsMax) {
    throw invalid(`A search has ${words.length} words: the limit is ${searchWordsMax}.`);
  }
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
}

function split(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => [...word.slice(0, wordLengthMax * 2)].slice(0, wordLengthMax).join(''));
}
