import { oneLine } from '../../services/contracts/one-line.ts';
import { inStyleOf, withoutStyle } from './style.ts';

/** Counts the visible characters, not the style marks. */
export function seenWidth(text: string): number {
  return [...withoutStyle(text)].length;
}

/** Cuts a text that is too long and ends it with "…". The colour of the text stays. */
export function cut(text: string, width: number): string {
  if (seenWidth(text) <= width) return text;
  const seen = [...withoutStyle(text)].slice(0, width - 1).join('');
  return inStyleOf(text, `${seen.trimEnd()}…`);
}

/** The terminal that a text is laid out for. */
export interface Page {
  /** Null for a file or a program, for which nothing is wrapped or cut. */
  readonly columns: number | null;
  /** Replaces `svc` by the typed name before lines are measured. */
  readonly asTyped: (text: string) => string;
}

export interface Hung {
  readonly head: string;
  readonly text: string;
  /** Indentation of the second and later lines. */
  readonly indent: number;
}

/** One paragraph with lines broken between words. Only a word longer than a line is broken itself. */
export function hang({ head, text, indent }: Hung, { columns: width, asTyped }: Page): string {
  if (width === null) return head + oneLine(text);
  const words = asTyped(oneLine(text)).split(' ');
  const whole = words.flatMap((word) => pieces(word, Math.max(1, width - indent)));
  return fill({ head, words: whole, indent, width });
}

/**
 * Breaks lines that are longer than the terminal, between words and with their own indentation. A command or an address
 * stays whole, so that it can be copied.
 */
export function broken(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => {
      if (seenWidth(line) <= width) return line;
      const [head = ''] = /^ *(?:- )?/.exec(line) ?? [];
      return fill({ head, words: wordsAndCommands(line.slice(head.length)), indent: head.length, width });
    })
    .join('\n');
}

/** `svc` with its arguments is one word, up to the end of the sentence. */
function wordsAndCommands(line: string): readonly string[] {
  return line.match(/(?:npx (?:-y -p \S+ )?)?\bsvc [a-z-](?:[^\s.,;]|[.,;](?!\s|$)| )*[.,;]?(?=\s|$)|\S+/g) ?? [];
}

interface Paragraph {
  readonly head: string;
  readonly words: readonly string[];
  readonly indent: number;
  readonly width: number;
}

function fill({ head, words, indent, width }: Paragraph): string {
  const lines: string[] = [];
  let line = head;
  for (const word of words) {
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

/** Wraps a separate sentence. */
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
