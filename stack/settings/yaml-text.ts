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

interface Place {
  /** Null for a name without a value. */
  readonly offset: number | null;
  readonly nameOffset: number | null;
  /** By name, or by index. */
  readonly parts: ReadonlyMap<string, Place>;
}

const noParts: ReadonlyMap<string, Place> = new Map();

/** A YAML file: its value, and its mistakes, each with its position. */
export class YamlText {
  /** Undefined when the text is not valid YAML: the mistakes say why. */
  readonly value: unknown;
  readonly mistakes: Mistake[] = [];
  readonly #lines = new LineCounter();
  #root: Place = { offset: 0, nameOffset: null, parts: noParts };

  constructor(text: string) {
    // The parser would compare each name with each other one; `#placeOf` finds duplicates in one pass.
    const documents = new Composer({ uniqueKeys: false }).compose(this.#tokensOf(text), true, text.length);
    const [document, other] = documents;
    if (document === undefined || this.mistakes.length > 0) return;
    for (const { pos, message } of document.errors) this.#addAt(pos[0], sentence(message));
    if (this.mistakes.length > 0) return;
    if (other !== undefined) {
      this.#addAt(other.range[0], 'It holds more than one document: write one file for each.');
      return;
    }
    this.#root = this.#placeOf(document.contents);
    if (this.mistakes.length > 0) return;
    try {
      this.value = document.toJS({ maxAliasCount: aliasesMax });
    } catch {
      this.#addAt(0, `It uses aliases (*) more than ${aliasesMax} times: write out their values.`);
    }
  }

  locateName(path: Path): Position {
    const { place, offset } = this.#nearest(path);
    return this.#positionAt(place?.nameOffset ?? offset);
  }

  /** The place at `path`, or null; and the offset of the value there, or of the nearest value around it. */
  #nearest(path: Path): { readonly place: Place | null; readonly offset: number } {
    let place: Place | null = this.#root;
    let offset = place.offset ?? 0;
    for (const step of path) {
      place = place?.parts.get(String(step)) ?? null;
      offset = place?.offset ?? offset;
    }
    return { place, offset };
  }

  add(path: Path, message: string): void {
    this.#addAt(this.#nearest(path).offset, message);
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
  #placeOf(node: unknown, nameOffset: number | null = null): Place {
    const offset = isNode(node) ? (node.range?.[0] ?? null) : null;
    if (isSeq(node)) {
      const items = node.items.map((item, index) => [String(index), this.#placeOf(item)] as const);
      return { offset, nameOffset, parts: new Map(items) };
    }
    if (!isMap(node)) return { offset, nameOffset, parts: noParts };
    const parts = new Map<string, Place>();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) {
        // No path leads there, and the names in it are checked all the same.
        for (const one of [key, value]) this.#placeOf(one);
        continue;
      }
      const name = String(key.value);
      const at = key.range?.[0] ?? 0;
      if (name === '__proto__') this.#addAt(at, '"__proto__" is not a valid name.');
      else if (parts.has(name)) this.#addAt(at, `The name ${JSON.stringify(name)} is used twice.`);
      parts.set(name, this.#placeOf(value, at));
    }
    return { offset, nameOffset, parts };
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

/** Sentences of the parser that name no repair, in plainer words. */
const plainer: Readonly<Record<string, string>> = {
  'Tabs are not allowed as indentation': 'A tab indents this line. Use spaces.',
  'Implicit map keys need to be followed by map values': 'This line needs a colon and a space, as in name: value.',
  'Nested mappings are not allowed in compact mappings': 'A value with a colon needs quotes, as in name: "a: b".',
};

function sentence(text: string): string {
  const plain = plainer[text];
  if (plain !== undefined) return plain;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
