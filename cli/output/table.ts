import { oneLine } from '../../services/contracts/one-line.ts';
import { cut, hang, type Page, seenWidth } from './width.ts';

/** The title of a column. A spare column is left out when the terminal is too narrow. */
export type Column = string | { readonly title: string; readonly isSpare: true };

export function spare(title: string): Column {
  return { title, isSpare: true };
}

const gap = 2;
/** A shorter cell would be useless. */
const cellMin = 8;

/**
 * Columns without borders: a header, rows, two spaces between. A row is one line, whatever an MCP server wrote. `width`
 * is the width of the terminal; null if no person reads it, and then nothing is left out or cut. Longer texts belong
 * below the table: see `details`.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | null = null,
): string {
  const header = columns.map((column) => (typeof column === 'string' ? column : column.title));
  const all = [header, ...rows.map((row) => row.map(oneLine))];
  const widest = header.map((_, at) => Math.max(...all.map((row) => seenWidth(row[at] ?? ''))));
  const shown = shownColumns(columns, widest, width);
  const widths = fitted(
    shown.map((at) => widest[at] ?? 0),
    width,
  );
  return all
    .map((row) => {
      const cells = shown.map((at, place) => cut(row[at] ?? '', widths[place] ?? 0));
      return cells
        .map((cell, place) => cell + ' '.repeat(Math.max(0, (widths[place] ?? 0) - seenWidth(cell))))
        .join(' '.repeat(gap))
        .trimEnd();
    })
    .join('\n');
}

/** Texts about rows that do not fit into a cell, below the table and by name. */
export function details(told: readonly { readonly name: string; readonly text: string }[], page: Page): string {
  return told.map(({ name, text }) => hang({ head: `${name}: `, text, indent: 2 }, page)).join('\n');
}

/** The facts about one thing, one line each: "what  value". */
export function facts(pairs: readonly (readonly [what: string, value: string])[], page: Page): string {
  const indent = Math.max(...pairs.map(([what]) => seenWidth(what))) + gap;
  return pairs.map(([what, value]) => hang({ head: what.padEnd(indent), text: value, indent }, page)).join('\n');
}

/** The columns that hold a value. Spare columns are dropped from the right until the others fit. */
function shownColumns(columns: readonly Column[], widest: readonly number[], width: number | null): readonly number[] {
  const shown = columns.flatMap((_, at) => ((widest[at] ?? 0) > 0 ? [at] : []));
  for (;;) {
    const spared = shown.findLastIndex((at) => typeof columns[at] !== 'string');
    if (spared === -1 || width === null || room(shown.map((at) => widest[at] ?? 0)) <= width) return shown;
    shown.splice(spared, 1);
  }
}

/** The widest column shrinks first. */
function fitted(widest: readonly number[], width: number | null): readonly number[] {
  const widths = [...widest];
  while (width !== null && room(widths) > width) {
    const most = Math.max(...widths);
    if (most <= cellMin) break;
    widths[widths.indexOf(most)] = most - 1;
  }
  return widths;
}

function room(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + gap * (widths.length - 1);
}
