import {
  Composer,
  type CST,
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
import type { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { fieldSeparator } from './rules.ts';

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

/** Far more than any real file has. The parser recurses for each level, and a deeper file could overflow the stack. */
const depthMax = 64;

/** A YAML file: its value, and its mistakes, each with its position. */
export class YamlText {
  /** Undefined when the text is not valid YAML: the mistakes say why. */
  readonly value: unknown;
  readonly mistakes: Mistake[] = [];
  readonly #lines = new LineCounter();
  /** The offset of each value and each name, by its path as one text. */
  readonly #values = new Map<string, number>();
  readonly #names = new Map<string, number>();

  constructor(text: string) {
    // The parser would compare each name with each other one; `#findPlaces` finds duplicates in one pass.
    const documents = new Composer({ uniqueKeys: false }).compose(this.#tokensOf(text), true, text.length);
    const [document, other] = documents;
    if (document === undefined || this.mistakes.length > 0) return;
    for (const { pos, message } of document.errors) this.#addAt(pos[0], sentence(message));
    if (this.mistakes.length > 0) return;
    if (other !== undefined) {
      this.#addAt(other.range[0], 'It holds more than one document: write one file for each.');
      return;
    }
    this.#findPlaces(document.contents, []);
    if (this.mistakes.length > 0) return;
    try {
      this.value = document.toJS({ maxAliasCount: aliasesMax });
    } catch {
      this.#addAt(0, `It uses aliases (*) more than ${aliasesMax} times: write out their values.`);
    }
  }

  /** The position of the value at `path`; of the nearest part around it when it is missing. */
  locate(path: Path): Position {
    const offset = this.#values.get(keyOf(path));
    if (offset === undefined && path.length > 0) return this.locate(path.slice(0, -1));
    return this.#positionAt(offset ?? 0);
  }

  /** The position of the field name at `path`. */
  locateName(path: Path): Position {
    const offset = this.#names.get(keyOf(path));
    return offset === undefined ? this.locate(path) : this.#positionAt(offset);
  }

  /** Adds a mistake of the value at this path. */
  add(path: Path, message: string): void {
    this.mistakes.push({ ...this.locate(path), message });
  }

  /** Adds a mistake of the name at the end of this path. */
  addToName(path: Path, message: string): void {
    this.mistakes.push({ ...this.locateName(path), message });
  }

  addUnknown(path: Path, known: readonly string[]): void {
    this.addToName(path, `"${path.join('.')}" is not a field. ${suggestion(String(path.at(-1)), known)}`);
  }

  /** Adds those of a value below `path`. Errors of its schema follow "must be", except errors of refinements. */
  addIssues(path: Path, issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) {
      const below = [...path, ...issue.path.filter((part) => typeof part !== 'symbol')];
      if (issue.code === 'unrecognized_keys') {
        for (const name of issue.keys) this.addUnknown([...below, name], issue.message.split(fieldSeparator));
      } else if (issue.code === 'invalid_key') {
        for (const { message } of issue.issues) this.addToName(below, `${nameOf(below)}: ${message}`);
      } else if (issue.code === 'custom') {
        this.add(below, `${nameOf(below)}: ${issue.message}`);
      } else {
        this.add(below, `${nameOf(below)} must be ${issue.message}.`);
      }
    }
  }

  /** The parser's tokens, until the text is nested too deep. */
  *#tokensOf(text: string): Generator<CST.Token> {
    const parser = new Parser(this.#lines.addNewLine);
    this.#lines.addNewLine(0);
    for (const lexeme of new Lexer().lex(text)) {
      yield* parser.next(lexeme);
      if (parser.stack.length <= depthMax) continue;
      return this.#addAt(parser.offset, `The file is nested too deep: at most ${depthMax} levels.`);
    }
    yield* parser.end();
  }

  /** JavaScript would lose the name "__proto__", and one of two equal names. */
  #findPlaces(node: unknown, path: Path): void {
    if (isNode(node)) this.#values.set(keyOf(path), node.range?.[0] ?? 0);
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) this.#findPlaces(item, [...path, index]);
    }
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      const inner = [...path, name];
      const offset = key.range?.[0] ?? 0;
      if (name === '__proto__') this.#addAt(offset, '"__proto__" is not a valid name.');
      else if (this.#names.has(keyOf(inner))) this.#addAt(offset, `The name ${JSON.stringify(name)} is used twice.`);
      this.#names.set(keyOf(inner), offset);
      this.#findPlaces(value, inner);
    }
  }

  #addAt(offset: number, message: string): void {
    this.mistakes.push({ ...this.#positionAt(offset), message });
  }

  #positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

export function nameOf(path: Path): string {
  return path.length === 0 ? 'The file' : path.join('.');
}

/** The path as one text. A number is the name of an item, or of a field. */
function keyOf(path: Path): string {
  return JSON.stringify(path.map(String));
}

/** The text with the scalar at `path` replaced, and every comment and blank line unchanged. */
export function replaceScalar(text: string, path: Path, replacement: string): string {
  const range = (parseDocument(text).getIn(path, true) as Node | undefined)?.range;
  if (range === null || range === undefined) throw new Error(`there is no ${path.join('.')} to replace`);
  return text.slice(0, range[0]) + replacement + text.slice(range[1]);
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

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
