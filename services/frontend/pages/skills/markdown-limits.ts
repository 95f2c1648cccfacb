/** Instructions that agents read well are a tenth of it. */
const lengthMax = 64 * 1024;
/** Lines without an empty one between them. */
const blockLengthMax = 4 * 1024;
/** Quotes and lists inside of each other at the beginning of a line. */
const deepNesting = /^(?:[ \t]*(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])){30}/m;

/**
 * Whether Markdown is shown formatted. The time of the formatter grows with the square of a block's length, and its stack
 * with the nesting: the page of a reader must not hang because of an author.
 */
export function mayFormat(text: string): boolean {
  if (text.length > lengthMax || deepNesting.test(text)) return false;
  return text.split(/\n[ \t]*\r?\n/).every((block) => block.length <= blockLengthMax);
}
