import {
  Composer,
  type CST,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  parseDocument,
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
  // The parser would compare each name with each other one; `findPlaces` finds duplicates in one pass.
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
  const places: Places = { lines, values: new Map(), names: new Map(), mistakes: [] };
  findPlaces(document.contents, '', places);
  if (places.mistakes.length > 0) return places.mistakes;
  const read = toValue(document);
  if (read === null) return [tooManyAliases];
  const locate = (path: Path) => {
    const found = pathsTo(path).map((one) => places.values.get(one));
    return positionAt(lines, found.findLast((offset) => offset !== undefined) ?? 0);
  };
  const locateName = (path: Path) => {
    const offset = places.names.get(pathsTo(path).at(-1) ?? '');
    return offset === undefined ? locate(path) : positionAt(lines, offset);
  };
  return { value: read.value, locate, locateName };
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

/** The offset of each value and each name, by its path as one text. */
interface Places {
  readonly lines: LineCounter;
  readonly values: Map<string, number>;
  readonly names: Map<string, number>;
  readonly mistakes: Mistake[];
}

/** JavaScript would lose the name "__proto__", and one of two equal names. */
function findPlaces(node: unknown, path: string, places: Places): void {
  const { lines, values, names, mistakes } = places;
  if (isNode(node)) values.set(path, node.range?.[0] ?? 0);
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) findPlaces(item, below(path, index), places);
  }
  if (!isMap(node)) return;
  for (const { key, value } of node.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    const inner = below(path, name);
    const offset = key.range?.[0] ?? 0;
    const complain = (message: string) => mistakes.push({ ...positionAt(lines, offset), message });
    if (name === '__proto__') complain('"__proto__" is not a valid name.');
    else if (names.has(inner)) complain(`The name ${JSON.stringify(name)} is used twice.`);
    names.set(inner, offset);
    findPlaces(value, inner, places);
  }
}

/** The path of each part on the way, from the whole file on. */
function pathsTo(path: Path): readonly string[] {
  const paths = [''];
  for (const step of path) paths.push(below(paths.at(-1) ?? '', step));
  return paths;
}

function below(path: string, step: string | number): string {
  return `${path}/${JSON.stringify(String(step))}`;
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

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
