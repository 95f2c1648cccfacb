import { invalid } from './node-rules.ts';

/** Version of the rules below, which make words of a text: lower case, without accents and punctuation. A new version indexes all nodes again. */
export const searchWordsVersion = 1;

/** A longer word is cut, and found by its beginning. */
const wordLengthMax = 64;
/** Words of one node. Search does not find further words; this bounds the index of a huge description. */
const wordsMax = 500;
/** Words of one search. Each costs a look-up in the index per candidate. */
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

/** The words of a search. A word that begins another one is dropped: nodes with the longer word have the shorter, too. */
export function wordsOfSearch(search: string): readonly string[] {
  const words = [...new Set(split(search))];
  if (words.length > searchWordsMax) {
    throw invalid(`A search has ${words.length} words: the limit is ${searchWordsMax}.`);
  }
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
}

/** Whether the graph would find a node with these texts. */
export function matchesSearch(texts: readonly (string | null)[], search: string): boolean {
  const words = [...wordsOf(texts)];
  return wordsOfSearch(search).every((start) => words.some((word) => word.startsWith(start)));
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
