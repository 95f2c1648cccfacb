import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';

/** The parts of a source file that the boundaries check. */
export interface SourceFile {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  readonly imports: readonly Import[];
  /** Uses of the global process: `process.env` and `process.exit`. */
  readonly processUses: readonly { readonly name: 'process.env' | 'process.exit'; readonly line: number }[];
}

export interface Import {
  /** As written; null if it is computed. */
  readonly specifier: string | null;
  readonly line: number;
}

/** Reads every way to name another module: static, dynamic and type imports, re-exports, import types and `require`. */
export function readSourceFile(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)];
  const lineOf = (node: Node) => lineStarts.findLastIndex((start) => start <= Number(node.start)) + 1;
  const imports: Import[] = [];
  const processUses: { name: 'process.env' | 'process.exit'; line: number }[] = [];

  const add = (source: unknown, node: Node) => imports.push({ specifier: literal(source), line: lineOf(node) });
  const addUse = (name: unknown, node: Node) => {
    if (name === 'env' || name === 'exit') processUses.push({ name: `process.${name}`, line: lineOf(node) });
  };

  visit(parseAst(withoutHashbang(text), { lang: languageOf(path) }), (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
        add(node.source, node);
        if (isProcessModule(node.source))
          for (const named of childrenOf(node.specifiers)) addUse(nameOf(named.imported), named);
        break;
      case 'ExportAllDeclaration':
      case 'ExportNamedDeclaration':
        if (node.source) add(node.source, node);
        break;
      case 'ImportExpression':
        add(node.source, node);
        break;
      case 'TSImportType':
        add(node.source ?? node.argument, node);
        break;
      case 'CallExpression':
        if (nameOf(node.callee) === 'require') add(childrenOf(node.arguments)[0], node);
        break;
      case 'MemberExpression':
        if (isProcess(node.object)) addUse(nameOf(node.property) ?? literal(node.property), node);
        break;
      case 'VariableDeclarator':
        if (isProcess(node.init) && isNode(node.id))
          for (const property of childrenOf(node.id.properties)) addUse(nameOf(property.key), property);
        break;
    }
  });
  return { path, imports, processUses };
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

function childrenOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function nameOf(node: unknown): string | null {
  return isNode(node) && node.type === 'Identifier' && typeof node.name === 'string' ? node.name : null;
}

function literal(node: unknown): string | null {
  return isNode(node) && node.type === 'Literal' && typeof node.value === 'string' ? node.value : null;
}

/** `process` or `globalThis.process`. */
function isProcess(node: unknown): boolean {
  if (nameOf(node) === 'process') return true;
  return (
    isNode(node) &&
    node.type === 'MemberExpression' &&
    nameOf(node.object) === 'globalThis' &&
    nameOf(node.property) === 'process'
  );
}

function isProcessModule(source: unknown): boolean {
  return literal(source) === 'node:process' || literal(source) === 'process';
}

function languageOf(path: string): 'ts' | 'tsx' | 'jsx' {
  if (path.endsWith('.tsx')) return 'tsx';
  return path.endsWith('.ts') ? 'ts' : 'jsx';
}

/** Positions stay unchanged. */
function withoutHashbang(text: string): string {
  return text.replace(/^#!/, '//');
}
