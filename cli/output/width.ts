const esc = String.fromCharCode(27);
const colourCode = new RegExp(`${esc}\\[\\d+m`, 'g');

/** Counts what is seen, not the colour codes. */
export function seenWidth(text: string): number {
  return [...text.replace(colourCode, '')].length;
}

/** Ends with "…" where it is too long. Its colour, if it has one, is that of all of it. */
export function cut(text: string, width: number): string {
  if (seenWidth(text) <= width) return text;
  const [colour = ''] = text.match(colourCode) ?? [];
  const seen = [...text.replace(colourCode, '')].slice(0, width - 1).join('');
  return `${colour}${seen.trimEnd()}…${colour === '' ? '' : `${esc}[0m`}`;
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

/** Lines that break between words. Only a word that no line can hold is broken itself. */
export function hang({ head, text, indent }: Hung, { columns: width, asTyped }: Page): string {
  if (width === null) return head + text;
  const lines: string[] = [];
  let line = head;
  for (const word of asTyped(text)
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
