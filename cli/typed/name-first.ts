/** The words of a command with the value of `--name` in the place of its argument NAME, as scripts still write it. */
export function nameFirst(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const at = words.findIndex((word, place) => /^--name(=|$)/.test(word) && (end === -1 || place < end));
  const word = words[at];
  if (word === undefined) return [...words];
  const rest = words.slice(at + 1);
  // The parser refuses a flag that is given twice.
  if (rest.some((other) => /^--name(=|$)/.test(other))) return [...words];
  if (word !== '--name') return [word.slice('--name='.length), ...words.slice(0, at), ...rest];
  const [value, ...others] = rest;
  // Without a value, the parser says so.
  if (value === undefined || value.startsWith('-')) return [...words];
  return [value, ...words.slice(0, at), ...others];
}
