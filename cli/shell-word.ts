/** One word, as a shell takes it: in quotes where it would be read as something else. */
export function shellWord(word: string): string {
  return /^[\w.:@/=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
