import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { boundaryViolations } from './boundaries.ts';
import { machineTraces, registryHosts, tracesIn } from './machine-traces.ts';
import { formatViolation } from './violation.ts';

const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The violations of a tree with these files, as `path:line message`. */
function violationsOf(files: Readonly<Record<string, string>>): string[] {
  const violations = boundaryViolations(tree({ 'package.json': '{ "devDependencies": { "zod": "4" } }', ...files }));
  return violations.map(formatViolation);
}

function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-tree-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

describe('every way to import is noticed', () => {
  test.each([
    ['import', `import { a } from '../backend/a.ts';`],
    ['import for its effect', `import '../backend/a.ts';`],
    ['type import', `import type { A } from '../backend/a.ts';`],
    ['import with types inside', `import { type A } from '../backend/a.ts';`],
    ['import type', `export const a = (b: import('../backend/a.ts').A) => b;`],
    ['re-export', `export { a } from '../backend/a.ts';`],
    ['re-export of all', `export * from '../backend/a.ts';`],
    ['re-export of types', `export type { A } from '../backend/a.ts';`],
    ['dynamic import', `export const a = await import('../backend/a.ts');`],
    ['dynamic import deep inside', `export class A { b = { c: async () => (await import('../backend/a.ts')).a } }`],
    ['require', `export const a = require('../backend/a.ts');`],
  ])('%s', (_way, statement) => {
    const found = violationsOf({ 'services/runtime/x.ts': `\n${statement}`, 'services/backend/a.ts': '' });
    expect(found).toEqual(['services/runtime/x.ts:2 services/runtime may not import services/backend/a.ts']);
  });

  test('a computed import is refused', () => {
    const found = violationsOf({ 'stack/x.ts': `export const load = (name: string) => import(name);` });
    expect(found).toEqual(['stack/x.ts:1 imports what is only known when it runs']);
  });

  test('text that only looks like an import does not count', () => {
    const text = `// import '../backend/a.ts'\nexport const a = "import '../backend/a.ts'";`;
    expect(violationsOf({ 'services/runtime/x.ts': text })).toEqual([]);
  });
});

describe('the import table', () => {
  const parts = ['contracts', 'kit', 'backend', 'remote-mcp', 'runtime', 'frontend'].map((part) => `services/${part}`);
  const others = [...parts, 'stack', 'cli', 'templates'];
  const allowed: Readonly<Record<string, readonly string[]>> = {
    'services/kit': ['services/contracts'],
    'services/backend': ['services/contracts', 'services/kit'],
    'services/remote-mcp': ['services/contracts', 'services/kit'],
    'services/runtime': ['services/contracts', 'services/kit'],
    stack: ['services/contracts'],
    cli: ['services/contracts', 'stack'],
  };

  test.each(others.flatMap((from) => others.map((to) => [from, to])))('%s → %s', (from, to) => {
    const up = '../'.repeat(from.split('/').length);
    const found = violationsOf({ [`${from}/x.ts`]: `import '${up}${to}/y.ts';` });
    const isAllowed = from === to || (allowed[from] ?? []).includes(to);
    expect(found).toEqual(isAllowed ? [] : [`${from}/x.ts:1 ${from} may not import ${to}/y.ts`]);
  });

  test('the frontend may import graphql, ids, errors, env and the rules for input of the contracts', () => {
    const statements = ['graphql/schema.ts', 'ids.ts', 'errors.ts', 'names.ts', 'keys.ts', 'ids-of-others.ts'];
    const text = statements.map((path) => `import '../contracts/${path}';`).join('\n');
    expect(violationsOf({ 'services/frontend/x.ts': text })).toEqual([
      'services/frontend/x.ts:5 services/frontend may not import services/contracts/keys.ts',
      'services/frontend/x.ts:6 services/frontend may not import services/contracts/ids-of-others.ts',
    ]);
  });

  test('the stack may import the start of a service, and nothing else of it', () => {
    const text = `import '../services/backend/start.ts';\nimport '../services/backend/deep/start.ts';\nimport '../services/backend/main.ts';`;
    expect(violationsOf({ 'stack/x.ts': text })).toEqual([
      'stack/x.ts:2 stack may not import services/backend/deep/start.ts',
      'stack/x.ts:3 stack may not import services/backend/main.ts',
    ]);
  });

  test('tests may import across, and nothing may import a test', () => {
    const across = `import '../../services/backend/a.ts';`;
    expect(
      violationsOf({ 'stack/test/a.ts': across, 'stack/x/a.test.ts': across, 'cli/x/a.contract.ts': across }),
    ).toEqual([]);
    expect(violationsOf({ 'stack/x.ts': `import './test/a.ts';`, 'stack/test/a.ts': '' })).toEqual([
      'stack/x.ts:1 imports the test code stack/test/a.ts',
    ]);
  });

  test('contracts must not use Node, and no part may use packages that package.json does not name', () => {
    const text = `import 'node:fs';\nimport 'zod';\nimport 'zod/v4';\nimport '@scope/unknown/deep';`;
    expect(violationsOf({ 'services/contracts/x.ts': text })).toEqual([
      'services/contracts/x.ts:1 imports node:fs; contracts must also run in a browser',
      'services/contracts/x.ts:4 imports "@scope/unknown", which package.json does not name',
    ]);
  });

  test('a file outside of the parts is refused, as importer and as target', () => {
    expect(violationsOf({ 'services/x.ts': '' })).toEqual(['services/x.ts:1 lies in no part of the architecture']);
    expect(violationsOf({ 'cli/x.ts': `import '../.config/a.ts';` })).toEqual([
      'cli/x.ts:1 cli may not import .config/a.ts',
    ]);
  });
});

describe('sizes and colours of the pages', () => {
  test.each([
    ['a.tsx', `export const A = () => <p className="text-[#fff]" />;`, '#fff'],
    ['a.tsx', `export const A = () => <p className="p-[3px]" />;`, '3px'],
    ['a.tsx', `export const A = () => <p style={{ color: 'rgb(1 2 3)' }} />;`, 'rgb('],
    ['a.css', 'p { margin: 1.5rem; }', '1.5rem'],
    ['a.css', 'p { color: oklch(1 0 0); }', 'oklch('],
  ])('are tokens: %s with %s', (name, text, literal) => {
    expect(violationsOf({ [`services/frontend/pages/${name}`]: text })).toEqual([
      `services/frontend/pages/${name}:1 holds the literal "${literal}"; sizes and colours are tokens`,
    ]);
  });

  test('are literals in the file of tokens alone', () => {
    const text = ':root { --a: #fff; --b: 4px; }';
    expect(violationsOf({ 'services/frontend/app/tokens.css': text })).toEqual([]);
    const code = `export const A = () => <a href="#panel" className="size-4 max-h-[60dvh]">{x.length}</a>;`;
    expect(violationsOf({ 'services/frontend/pages/a.tsx': code })).toEqual([]);
  });
});

describe('floors', () => {
  const wire = 'services/remote-mcp/wire/a.ts';
  const calls = 'services/remote-mcp/calls/a.ts';

  test('an import that runs upward is refused, and one that runs downward is not', () => {
    expect(violationsOf({ [wire]: `import '../calls/a.ts';`, [calls]: '' })).toEqual([]);
    expect(violationsOf({ [wire]: '', [calls]: `import type { A } from '../wire/a.ts';` })).toEqual([
      `${calls}:1 imports upward: ${wire}`,
    ]);
  });

  test('files directly in a part belong to the roof', () => {
    const roof = 'services/remote-mcp/context.ts';
    expect(violationsOf({ [roof]: `import './calls/a.ts';`, [calls]: '' })).toEqual([]);
    expect(violationsOf({ [roof]: '', [calls]: `import type { A } from '../context.ts';` })).toEqual([
      `${calls}:1 imports upward: ${roof}`,
    ]);
  });

  test('a folder that is not a floor is refused, and a test may import anything', () => {
    const strange = 'services/remote-mcp/strange/a.ts';
    expect(violationsOf({ [strange]: '' })).toEqual([`${strange}:1 lies on no floor of services/remote-mcp`]);
    expect(violationsOf({ 'services/remote-mcp/calls/a.test.ts': `import '../wire/a.ts';`, [wire]: '' })).toEqual([]);
  });
});

describe('circles of imports', () => {
  test('a circle of two files and a longer one are reported once each', () => {
    const found = violationsOf({
      'stack/a.ts': `import './b.ts';`,
      'stack/b.ts': `import './a.ts';`,
      'cli/c.ts': `import './d.ts';`,
      'cli/d.ts': `export const e = () => import('./e.ts');`,
      'cli/e.ts': `import type { C } from './c.ts';`,
    });
    expect(found).toEqual([
      'cli/c.ts:1 is in a circle of imports: cli/c.ts → cli/d.ts → cli/e.ts → cli/c.ts',
      'stack/a.ts:1 is in a circle of imports: stack/a.ts → stack/b.ts → stack/a.ts',
    ]);
  });

  test('imports of types alone make a circle as well', () => {
    const found = violationsOf({
      'stack/a.ts': `import type { B } from './b.ts';`,
      'stack/b.ts': `import type { A } from './a.ts';`,
    });
    expect(found).toEqual(['stack/a.ts:1 is in a circle of imports: stack/a.ts → stack/b.ts → stack/a.ts']);
  });

  test('two paths to the same file are not a circle', () => {
    expect(
      violationsOf({
        'stack/a.ts': `import './b.ts'; import './c.ts';`,
        'stack/b.ts': `import './c.ts';`,
        'stack/c.ts': '',
      }),
    ).toEqual([]);
  });
});

test('meaningless names, index files and camel case are refused', () => {
  const found = violationsOf({
    'stack/utils.ts': '',
    'stack/yaml-helpers.ts': '',
    'cli/common/a.ts': '',
    'stack/index.ts': '',
    'stack/processTable.ts': '',
    'stack/process-table.ts': '',
    'stack/commonly.ts': '',
  });
  expect(found).toEqual([
    'cli/common/a.ts:1 is named "common", which says nothing',
    'stack/index.ts:1 is an index: import from the file that has the thing',
    'stack/processTable.ts:1 is not named in kebab-case',
    'stack/utils.ts:1 is named "utils", which says nothing',
    'stack/yaml-helpers.ts:1 is named "helpers", which says nothing',
  ]);
});

describe('the environment and the end of a process', () => {
  test.each([
    ['process.env', 'export const a = process.env.A;'],
    ['process.env', `export const a = process['env'];`],
    ['process.env', 'export const a = globalThis.process.env;'],
    ['process.env', 'export const { env } = process;'],
    ['process.env', `import { env } from 'node:process'; export const a = env;`],
    ['process.exit', 'export const a = () => process.exit(1);'],
  ])('%s is noticed in: %s', (name, text) => {
    expect(violationsOf({ 'stack/x.ts': text })).toEqual([
      `stack/x.ts:1 uses ${name}, which only the entry of a process may`,
    ]);
  });

  test('belong to entries and tests; the base class of commands may read the environment', () => {
    const both = 'process.exit(Number(process.env.A));';
    const entries = [
      'cli/main.ts',
      'cli/svc.cjs',
      'services/runtime/main.ts',
      'stack/engines/process/main.ts',
      'stack/demo/start.ts',
      'stack/x.test.ts',
    ];
    expect(violationsOf(Object.fromEntries(entries.map((path) => [path, both])))).toEqual([]);
    expect(violationsOf({ 'cli/command.ts': both })).toEqual([
      'cli/command.ts:1 uses process.exit, which only the entry of a process may',
    ]);
  });

  test('the exit code may be set anywhere', () => {
    expect(violationsOf({ 'stack/x.ts': 'process.exitCode = 1; const { pid } = process; export { pid };' })).toEqual(
      [],
    );
  });
});

describe('traces of a machine', () => {
  const home = ['', 'home', 'someone'].join('/');

  test('paths and registries are noticed in tracked and untracked files, binary ones and addresses left alone', () => {
    const host = 'registry.example';
    const root = tree({
      'tracked.md': `fine\nsee ${home}/notes`,
      'untracked.json': `{ "resolved": "https://${host}/a.tgz" }`,
      'address.md': `https://example.org${home}/x and a/b${home}/c`,
      'ignored.txt': `${home}/x`,
      '.gitignore': 'ignored.txt',
      '.npmrc': `registry=https://${host}/`,
    });
    symlinkSync(`${home}/target`, join(root, 'link'));
    writeFileSync(join(root, 'binary'), `\0${home}/x`);
    execFileSync('git', ['init', '--quiet'], { cwd: root });
    execFileSync('git', ['add', 'tracked.md'], { cwd: root });
    expect(
      machineTraces(root)
        .map(({ path, line }) => `${path}:${line}`)
        .sort(),
    ).toEqual(['.npmrc:1', 'link:1', 'tracked.md:2', 'untracked.json:1']);
    expect(registryHosts(root)).toEqual([host]);
  });

  test('a path counts only where it begins', () => {
    const root = tree({ 'a.txt': [`x${home}/`, `(${home}/)`, `"${home}/"`, `../${home}/`].join('\n') });
    expect(tracesIn(root, 'a.txt', [`${dirname(home)}/`]).map(({ line }) => line)).toEqual([2, 3]);
  });
});

test('this repository keeps its boundaries', () => {
  expect(boundaryViolations(repository).map(formatViolation)).toEqual([]);
});

test('this repository has no traces of a machine', () => {
  expect(machineTraces(repository).map(formatViolation)).toEqual([]);
});
