import { withoutSecretWords } from '../../services/contracts/secret-words.ts';

export interface ChangedText {
  readonly before: string;
  readonly after: string;
  /** The entry as it is written. Only its lines are shown with their values, apart from the key. */
  readonly own: string;
  readonly key: string | null;
}

/**
 * The changed lines, as a unified diff without context: lines beside them may hold secrets of other MCP servers. Values
 * of lines that are not from the entry are left out for the same reason.
 */
export function describeChange({ before, after, own, key }: ChangedText): string {
  const ownLines = new Set(own.split('\n').map(bare));
  const shown = (line: string) => {
    const whole = line.replace(/\r$/, '');
    if (!ownLines.has(bare(whole))) return withoutValues(whole);
    return key === null ? whole : whole.replaceAll(key, '[secret]');
  };
  return hunksOf(lines(before), lines(after))
    .flatMap(({ at, removed, added }) => [
      `@@ line ${at} @@`,
      ...removed.map((line) => `-${shown(line)}`),
      ...added.map((line) => `+${shown(line)}`),
    ])
    .join('\n');
}

/** A line of JSON is the same with a comma. */
function bare(line: string): string {
  return line.trim().replace(/,$/, '');
}

function lines(text: string): readonly string[] {
  const all = text.split('\n');
  return all.at(-1) === '' ? all.slice(0, -1) : all;
}

/** Fields whose value says what an entry is. */
const telling = /(?:url|serverUrl|type|command|id)["']?\s*[:=]\s*$/;

function withoutValues(line: string): string {
  return line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, (text, at: number) => {
    if (/^\s*[:=]/.test(line.slice(at + text.length))) return text;
    if (telling.test(line.slice(0, at))) return withoutSecretWords([text]).join('');
    return text.length === 2 ? text : `${text[0]}…${text[0]}`;
  });
}

interface Hunk {
  /** The number of its first line. */
  readonly at: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** A change is a few lines of a file. More differences than this are shown as one. */
const cellsMax = 4_000_000;

function hunksOf(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const old = before.slice(start, before.length - end);
  const fresh = after.slice(start, after.length - end);
  if (old.length * fresh.length > cellsMax) return [{ at: start + 1, removed: old, added: fresh }];
  return hunksBetween(old, fresh, start + 1);
}

/** Walks along the longest common subsequence of both. */
function hunksBetween(old: readonly string[], fresh: readonly string[], first: number): readonly Hunk[] {
  const common = commonLengths(old, fresh);
  const hunks: { at: number; removed: string[]; added: string[] }[] = [];
  let isOpen = false;
  for (let i = 0, j = 0; i < old.length || j < fresh.length; ) {
    const [a, b] = [old[i], fresh[j]];
    if (a !== undefined && a === b) {
      isOpen = false;
      i++;
      j++;
      continue;
    }
    if (!isOpen) hunks.push({ at: first + i, removed: [], added: [] });
    isOpen = true;
    const removes = a !== undefined && (b === undefined || lengthAt(common, i + 1, j) >= lengthAt(common, i, j + 1));
    if (removes) {
      hunks.at(-1)?.removed.push(a);
      i++;
    } else if (b !== undefined) {
      hunks.at(-1)?.added.push(b);
      j++;
    }
  }
  return hunks;
}

/** The length of the longest common subsequence from each pair of lines to the ends. */
function commonLengths(old: readonly string[], fresh: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const length =
        old[i] === fresh[j]
          ? lengthAt(rows, i + 1, j + 1) + 1
          : Math.max(lengthAt(rows, i + 1, j), lengthAt(rows, i, j + 1));
      rows[i]?.set([length], j);
    }
  }
  return rows;
}

function lengthAt(rows: readonly Uint32Array[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0;
}
