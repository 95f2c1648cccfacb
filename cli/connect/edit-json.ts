import { createScanner, findNodeAtLocation, type Node, parseTree, type SyntaxKind } from 'jsonc-parser';

/**
 * Sets one value in a text of JSON with comments. Everything else stays byte for byte: the editor of jsonc-parser lays
 * out the neighbours anew and moves their comments.
 */
export function setInJson(text: string, path: readonly string[], value: unknown): string {
  const root = rootOf(text);
  const node = findNodeAtLocation(root, [...path]);
  if (node !== undefined) {
    const written = write(value, { indent: indentAt(text, node.offset), unit: unitOf(text), eol: eolOf(text) });
    return text.slice(0, node.offset) + written + text.slice(node.offset + node.length);
  }
  // The nearest object that exists gets the rest of the path.
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth--;
  const owner = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
  const [name = '', ...deeper] = path.slice(depth);
  const nested = deeper.reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
  return insert(text, owner ?? root, (layout) => `${JSON.stringify(name)}: ${write(nested, layout)}`);
}

/** Appends an item to the array at a path. */
export function appendInJson(text: string, path: readonly string[], item: unknown): string {
  const array = findNodeAtLocation(rootOf(text), [...path]);
  if (array === undefined) return setInJson(text, path, [item]);
  return insert(text, array, (layout) => write(item, layout));
}

function rootOf(text: string): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) throw new Error('a text without a value was parsed before');
  return root;
}

interface Layout {
  readonly indent: string;
  readonly unit: string;
  readonly eol: string;
}

function write(value: unknown, { indent, unit, eol }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);
}

/** Puts an item at the end of an object or array. */
function insert(text: string, owner: Node, written: (layout: Layout) => string): string {
  const close = owner.offset + owner.length - 1;
  const last = owner.children?.at(-1);
  const layout = { unit: unitOf(text), eol: eolOf(text) };
  const ownIndent = indentAt(text, owner.offset);
  if (last === undefined) {
    const indent = ownIndent + layout.unit;
    const end = close - trailingSpace(text.slice(owner.offset + 1, close));
    const item = `${layout.eol}${indent}${written({ ...layout, indent })}${layout.eol}${ownIndent}`;
    return text.slice(0, end) + item + text.slice(close);
  }
  const lastEnd = last.offset + last.length;
  const between = text.slice(lastEnd, close);
  const hasComma = holdsComma(between);
  const isOneLine = !text.slice(owner.offset, close).includes('\n');
  // A comment after the last item stays with it, so the new one begins behind the comment.
  const end = close - trailingSpace(between);
  const indent = isOneLine || !startsItsLine(text, last.offset) ? ownIndent + layout.unit : indentAt(text, last.offset);
  const item = isOneLine
    ? ` ${written({ indent: '', unit: '', eol: '\n' })}`
    : `${layout.eol}${indent}${written({ ...layout, indent })}`;
  return [
    text.slice(0, lastEnd),
    hasComma ? '' : ',',
    text.slice(lastEnd, end),
    item,
    hasComma && !isOneLine ? ',' : '',
    text.slice(end),
  ].join('');
}

const comma: SyntaxKind.CommaToken = 5;
const endOfText: SyntaxKind.EOF = 17;

/** A comma in a comment does not count. */
function holdsComma(text: string): boolean {
  const scanner = createScanner(text, true);
  for (let token = scanner.scan(); token !== endOfText; token = scanner.scan()) if (token === comma) return true;
  return false;
}

function trailingSpace(text: string): number {
  return text.length - text.trimEnd().length;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? '';
}

function startsItsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === '';
}

/** One step of indentation, as the file has it. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
