import { inStyleOf, withoutStyle } from './style.ts';

/** Counts what is seen, not the style marks. */
export function seenWidth(text: string): number {
  return [...withoutStyle(text)].length;
}

/** A text of others on one line: a line break in it must not look like a row or a message of ours. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\n\r\u2028\u2029]\s*/g, ' · ').replaceAll('\t', ' ');
}

/** Ends with "…" where it is too long. Its colour, if it has one, is that of all of it. */
export function cut(text: string, width: number): string {
  if (seenWidth(text) <= width) return text;
  const seen = [...withoutStyle(text)].slice(0, width - 1).join('');
  return inStyleOf(text, `${seen.trimEnd()}…`);
}

/** What texts are laid out for: a terminal. */
export interface Page {
  /** Null where no person looks: then nothing is broken or cut. */
  readonly columns: number | null;
  /** Gives commands their name here, before lines are counted. */
  readonly asTyped: (text: string) => string;
}

export interface Hung {
  readonly head: string;
  readonly text: string;
  /** Where the further lines begin. */
  readonly indent: number;
}

/** One paragraph whose lines break between words. Only a word that no line can hold is broken itself. */
export function hang({ head, text, indent }: Hung, { columns: width, asTyped }: Page): string {
  if (width === null) return head + oneLine(text);
  const lines: string[] = [];
  let line = head;
  for (const word of asTyped(oneLine(text))
    .split(' ')
    .flatMap((word) => pieces(word, Math.max(1, width - indent)))) {
    const longer = line + (line === '' || line.endsWith(' ') ? '' : ' ') + word;
    if (seenWidth(longer) <= width || line.trim() === '') {
      line = longer;
    } else {
      lines.push(line.trimEnd());
      line = ' '.repeat(indent) + word;
    }
  }
  return [...lines, line.trimEnd()].join('\n');
}

/** A sentence of its own. */
export function wrapped(text: string, page: Page): string {
  return hang({ head: '', text, indent: 0 }, page);
}

function pieces(word: string, width: number): readonly string[] {
  if (seenWidth(word) <= width) return [word];
  const letters = [...word];
  return Array.from({ length: Math.ceil(letters.length / width) }, (_, at) =>
    letters.slice(at * width, (at + 1) * width).join(''),
  );
}
