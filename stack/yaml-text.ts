import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';

/** A YAML file that a person wrote: its value, and where in the text each part of it stands. */
export interface YamlText {
  readonly value: unknown;
  /** Where the value at `path` stands; where it is left out, the nearest part around it. */
  locate(path: Path): Position;
  /** Where the name of the field at `path` stands. */
  locateName(path: Path): Position;
}

export type Path = readonly (string | number)[];

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Mistake extends Position {
  readonly message: string;
}

// An alias may stand for a large value many times over; nothing that people write comes near this.
const aliasesMax = 100;
const tooManyAliases: Mistake = {
  line: 1,
  column: 1,
  message: `It uses aliases (*) more than ${aliasesMax} times: write out what they stand for.`,
};

/** Reads the text; syntax errors come back as mistakes, and then there is no value. */
export function readYaml(text: string): YamlText | readonly Mistake[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return document.errors.map((error) => ({ ...positionAt(lines, error.pos[0]), message: sentence(error.message) }));
  }
  const mistakes = namesNotMeant(document, lines);
  if (mistakes.length > 0) return mistakes;
  const read = toValue(document);
  if (read === null) return [tooManyAliases];
  const root: unknown = document.contents;
  return {
    value: read.value,
    locate: (path) => positionAt(lines, offsetOfValue(root, path)),
    locateName: (path) => positionAt(lines, offsetOfName(root, path) ?? offsetOfValue(root, path)),
  };
}

/** A field of this name is none of the value in JavaScript, so nobody would notice it. */
function namesNotMeant(document: Document, lines: LineCounter): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  visit(document, {
    Pair(_, { key }) {
      if (!isScalar(key) || key.value !== '__proto__') return;
      mistakes.push({ ...positionAt(lines, key.range?.[0] ?? 0), message: '"__proto__" is no name.' });
    },
  });
  return mistakes;
}

/** Null where a few aliases would make an endless value. */
function toValue(document: Document): { readonly value: unknown } | null {
  try {
    return { value: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch {
    return null;
  }
}

/** The text with the scalar at `path` replaced, and every comment and blank line as it was. */
export function replaceScalar(text: string, path: Path, replacement: string): string {
  const range = (parseDocument(text).getIn(path, true) as Node | undefined)?.range;
  if (range === null || range === undefined) throw new Error(`there is no ${path.join('.')} to replace`);
  return text.slice(0, range[0]) + replacement + text.slice(range[1]);
}

export function isMistakes(read: YamlText | readonly Mistake[]): read is readonly Mistake[] {
  return Array.isArray(read);
}

/** All mistakes of a file, in the order of its lines, as `file:line:column message`. */
export function describeMistakes(file: string, mistakes: readonly Mistake[]): string {
  return mistakes
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, message }) => `${file}:${line}:${column} ${message}`)
    .join('\n');
}

function offsetOfValue(root: unknown, path: Path): number {
  let node = root;
  let offset = rangeStart(root) ?? 0;
  for (const step of path) {
    node = child(node, step);
    offset = rangeStart(node) ?? offset;
  }
  return offset;
}

function offsetOfName(root: unknown, path: Path): number | undefined {
  const name = path.at(-1);
  let node = root;
  for (const step of path.slice(0, -1)) node = child(node, step);
  return isMap(node) ? rangeStart(pairNamed(node, name)?.key) : undefined;
}

function child(node: unknown, step: string | number): unknown {
  if (isMap(node)) return pairNamed(node, step)?.value;
  return isSeq(node) && typeof step === 'number' ? node.items[step] : undefined;
}

function pairNamed(node: { items: readonly { key: unknown; value: unknown }[] }, name: unknown) {
  return node.items.find(({ key }) => String(key) === String(name));
}

function rangeStart(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
