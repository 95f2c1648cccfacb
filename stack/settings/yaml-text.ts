import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';

/** A YAML file: its value, and the position of each part in the text. */
export interface YamlText {
  readonly value: unknown;
  /** The position of the value at `path`; of the nearest part around it when it is missing. */
  locate(path: Path): Position;
  /** The position of the field name at `path`. */
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

// An alias may repeat a large value many times; real files use far fewer.
const aliasesMax = 100;
const tooManyAliases: Mistake = {
  line: 1,
  column: 1,
  message: `It uses aliases (*) more than ${aliasesMax} times: write out their values.`,
};

/** Far more than any real file has. The parser recurses for each level, and a deeper file could overflow the stack. */
const depthMax = 64;

/** Reads the text; syntax errors are returned as mistakes, without a value. */
export function readYaml(text: string): YamlText | readonly Mistake[] {
  const lines = new LineCounter();
  const deep: Mistake[] = [];
  const tokens = tokensOf(text, lines, (offset) =>
    deep.push({ ...positionAt(lines, offset), message: `The file is nested too deep: at most ${depthMax} levels.` }),
  );
  // The parser would compare each name with each other one; `namesNotMeant` finds duplicates in one pass.
  const [document, other] = new Composer({ uniqueKeys: false }).compose(tokens, true, text.length);
  if (deep.length > 0) return deep;
  if (document === undefined) return [];
  if (document.errors.length > 0) {
    return document.errors.map((error) => ({ ...positionAt(lines, error.pos[0]), message: sentence(error.message) }));
  }
  if (other !== undefined) {
    return [
      { ...positionAt(lines, other.range[0]), message: 'It holds more than one document: write one file for each.' },
    ];
  }
  const mistakes = namesNotMeant(document, lines);
  if (mistakes.length > 0) return mistakes;
  const read = toValue(document);
  if (read === null) return [tooManyAliases];
  const root: unknown = document.contents;
  const find = pairFinder();
  return {
    value: read.value,
    locate: (path) => positionAt(lines, offsetOfValue(root, path, find)),
    locateName: (path) => positionAt(lines, offsetOfName(root, path, find) ?? offsetOfValue(root, path, find)),
  };
}

/** The parser's tokens, until the text is nested too deep. */
function* tokensOf(text: string, lines: LineCounter, onTooDeep: (offset: number) => void): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > depthMax) return onTooDeep(parser.offset);
  }
  yield* parser.end();
}

/** JavaScript would lose the name "__proto__", and one of two equal names. */
function namesNotMeant(document: Document, lines: LineCounter): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const complain = (message: string) => mistakes.push({ ...positionAt(lines, key.range?.[0] ?? 0), message });
        if (key.value === '__proto__') complain('"__proto__" is not a valid name.');
        else if (seen.has(key.value)) complain(`The name ${JSON.stringify(String(key.value))} is used twice.`);
        seen.add(key.value);
      }
    },
  });
  return mistakes;
}

/** Null when a few aliases would make an endless value. */
function toValue(document: Document): { readonly value: unknown } | null {
  try {
    return { value: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch {
    return null;
  }
}

/** The text with the scalar at `path` replaced, and every comment and blank line unchanged. */
export function replaceScalar(text: string, path: Path, replacement: string): string {
  const range = (parseDocument(text).getIn(path, true) as Node | undefined)?.range;
  if (range === null || range === undefined) throw new Error(`there is no ${path.join('.')} to replace`);
  return text.slice(0, range[0]) + replacement + text.slice(range[1]);
}

export function isMistakes(read: YamlText | readonly Mistake[]): read is readonly Mistake[] {
  return Array.isArray(read);
}

/** A person repairs these first. */
const mistakesShownMax = 50;

/** The first mistakes of a file, in the order of its lines, as `file:line:column message`. */
export function describeMistakes(file: string, mistakes: readonly Mistake[]): string {
  const sorted = mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const left = sorted.length - mistakesShownMax;
  return [
    ...sorted
      .slice(0, mistakesShownMax)
      .map(({ line, column, message }) => `${file}:${line}:${column} ${message.slice(0, messageShownMax)}`),
    ...(left > 0 ? [`${file} has ${left} more mistakes.`] : []),
  ].join('\n');
}

/** A message may quote a text of any length. */
const messageShownMax = 2000;

/** Finds the pair of a name in a map. A map may have a hundred thousand names, and each may be looked up. */
type FindPair = (map: YAMLMap, name: unknown) => Pair | undefined;

function pairFinder(): FindPair {
  const known = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  return (map, name) => {
    const pairs = known.get(map) ?? new Map(map.items.toReversed().map((pair) => [String(pair.key), pair]));
    known.set(map, pairs);
    return pairs.get(String(name));
  };
}

function offsetOfValue(root: unknown, path: Path, find: FindPair): number {
  let node = root;
  let offset = rangeStart(root) ?? 0;
  for (const step of path) {
    node = child(node, step, find);
    offset = rangeStart(node) ?? offset;
  }
  return offset;
}

function offsetOfName(root: unknown, path: Path, find: FindPair): number | undefined {
  const name = path.at(-1);
  let node = root;
  for (const step of path.slice(0, -1)) node = child(node, step, find);
  return isMap(node) ? rangeStart(find(node, name)?.key) : undefined;
}

function child(node: unknown, step: string | number, find: FindPair): unknown {
  if (isMap(node)) return find(node, step)?.value;
  return isSeq(node) && typeof step === 'number' ? node.items[step] : undefined;
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
