import { parseAst } from 'vitest/node';

export interface Text {
  readonly line: number;
  /** One line; `…` replaces the inserted values of a template. */
  readonly words: string;
}

/** The texts of a source file that people may read: every string or template of at least two words, in order. */
export function textsOf(source: string): Text[] {
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map((match) => match.index + 1)];
  const texts: Text[] = [];
  visit(parseAst(source, { lang: 'ts' }), ({ type, start, value, quasis }) => {
    const text = type === 'Literal' ? value : type === 'TemplateLiteral' ? joined(quasis) : null;
    if (typeof text !== 'string' || !/\p{L}[,:;]? \p{L}/u.test(text)) return;
    const line = lineStarts.findLastIndex((at) => at <= Number(start)) + 1;
    texts.push({ line, words: text.replace(/\s+/g, ' ').trim() });
  });
  return texts;
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, see);
  else if (isNode(value)) {
    see(value);
    for (const child of Object.values(value)) if (typeof child === 'object') visit(child, see);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function joined(quasis: unknown): string {
  const parts = Array.isArray(quasis) ? quasis.filter(isNode) : [];
  return parts.map(({ value }) => (hasCooked(value) ? value.cooked : '')).join('…');
}

function hasCooked(value: unknown): value is { readonly cooked: string } {
  return typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string';
}
