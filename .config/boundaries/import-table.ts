import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { SourceFile } from './source-file.ts';
import { isTestCode, type Violation } from './violation.ts';

/** The table of the architecture, section 9: the allowed imports of each part. A part may always import itself. */
const table: Readonly<Record<string, readonly RegExp[]>> = {
  'services/contracts': [],
  'services/kit': [/^services\/contracts\//],
  'services/backend': [/^services\/(contracts|kit)\//],
  'services/remote-mcp': [/^services\/(contracts|kit)\//],
  'services/runtime': [/^services\/(contracts|kit)\//],
  'services/frontend': [
    /^services\/contracts\/(graphql|ids|errors|env|clients)(\.ts$|\/)/,
    /^services\/contracts\/(activity-changes|activity-words|browser-answers|close-codes|email-address|explain-key|file-path|key-disclosure|mcp-server-catalogue|mcp-server-deadlines|member-roles|names|password-rule|provider-refusal|runtime-hand-over|secret-words|shell-word|token|tool-pattern|workspace-limits)\.ts$/,
  ],
  // The bus inside one process is started like a service. The stored data of bus, graph and files is read only
  // while no service runs on it.
  stack: [
    /^services\/contracts\//,
    /^services\/([^/]+|kit\/bus)\/start\.ts$/,
    /^services\/(kit\/bus|backend\/graph|backend\/files)\/(open-)?content\.ts$/,
  ],
  cli: [/^services\/contracts\//, /^stack\//],
  templates: [],
};

/**
 * Decision 0001: the files of the frontend that form its process, not its pages, use the kit like every other process.
 */
const frontendProcess = /^services\/frontend\/(main|start|config|server)\.ts$/;

function mayImport(path: string, part: string): readonly RegExp[] {
  return (frontendProcess.test(path) ? table['services/runtime'] : table[part]) ?? [];
}

/** The part a file belongs to, or null outside of all. */
function partOf(path: string): string | null {
  return Object.keys(table).find((part) => path.startsWith(`${part}/`)) ?? null;
}

/** Tests may import across parts; product code may not import a test. package.json must name every package. */
export function importViolations(file: SourceFile, packages: ReadonlySet<string>): Violation[] {
  const part = partOf(file.path);
  if (part === null) return [{ path: file.path, line: 1, message: 'lies in no part of the architecture' }];
  const allowed = mayImport(file.path, part);
  const isTest = isTestCode(file.path);
  return file.imports.flatMap(({ specifier, line }) => {
    const refuse = (message: string) => [{ path: file.path, line, message }];
    if (specifier === null) return isTest ? [] : refuse('imports what is only known when it runs');
    if (!specifier.startsWith('.')) return packageViolation(specifier, part, packages, isTest).flatMap(refuse);
    const target = resolveImport(file.path, specifier);
    if (isTest || target === 'package.json') return [];
    if (isTestCode(target)) return refuse(`imports the test code ${target}`);
    if (target.startsWith(`${part}/`) || allowed.some((pattern) => pattern.test(target))) return [];
    return refuse(`${part} may not import ${target}`);
  });
}

export function resolveImport(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

function packageViolation(specifier: string, part: string, packages: ReadonlySet<string>, isTest: boolean): string[] {
  if (isBuiltin(specifier)) {
    return part === 'services/contracts' && !isTest
      ? [`imports ${specifier}; contracts must also run in a browser`]
      : [];
  }
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  return packages.has(name) ? [] : [`imports "${name}", which package.json does not name`];
}
