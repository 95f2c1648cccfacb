import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Variable } from '../../services/contracts/env/variable.ts';
import { variables } from '../../services/contracts/env/variables.ts';
import { requirements } from './requirements.ts';
import type { TestReferences } from './variable-requirements.ts';

const repository = join(import.meta.dirname, '../..');

/** The defects of a row. */
function complaintsAbout(id: string, references: TestReferences): string[] {
  if (references.length === 0) return [`${id} has no test`];
  return [references].flat().flatMap((reference) => {
    const [, file = '', title = ''] = /^(.*?): (.*)$/.exec(reference) ?? [];
    if (file === 'later') return title === '' ? [`${id} is later without a reason`] : [];
    if (!existsSync(join(repository, file))) return [`${id} names ${file}, which is not there`];
    return isTitleIn(readFileSync(join(repository, file), 'utf8'), title)
      ? []
      : [`${id} names "${title}", which is no test of ${file}`];
  });
}

/**
 * Whether a test's title begins or continues with these words: the first argument of a call, or the first text of a
 * table row. Words in comments, in code and in other texts do not count.
 */
function isTitleIn(source: string, words: string): boolean {
  const [plain, quoted] = [RegExp.escape(words), RegExp.escape(words.replaceAll("'", "\\'"))];
  const literals = [`'(?:[^'\\\\\\n]|\\\\.)*${quoted}`, `"[^"\\n]*${plain}`, `\`[^\`\\n]*${plain}`];
  return literals.some((literal) => new RegExp(`(?:\\(\\s*|^ +\\[\\s*)${literal}(?!\\w)`, 'm').test(source));
}

describe('every requirement', () => {
  test('has an existing test, or names what it waits for', () => {
    const complaints = Object.entries(requirements).flatMap(([id, references]) => complaintsAbout(id, references));
    expect(complaints).toEqual([]);
  });

  test('without a test, with a test that is not there or a later without a reason is noticed', () => {
    const row = (references: TestReferences) => complaintsAbout('x', references);
    expect(row([])).toEqual(['x has no test']);
    expect(row(['stack/test/none.test.ts: anything'])).toEqual(['x names stack/test/none.test.ts, which is not there']);
    expect(row(['README.md: A self-hosted platform'])).toEqual([
      'x names "A self-hosted platform", which is no test of README.md',
    ]);
    const own = (title: string) => row([`stack/test/requirements.test.ts: ${title}`]);
    const title = ['has an existing', 'test'].join(' ');
    const inComment = ['As many', 'rows as'].join(' ');
    expect([title, title.slice(0, -1), inComment].map((words) => own(words).length)).toEqual([0, 1, 1]);
    expect(row('later: ')).toEqual(['x is later without a reason']);
  });
});

test('a variable is logged as unused exactly where its service does not read it', () => {
  const wrong = Object.entries<Readonly<Record<string, Variable<unknown>>>>(variables).flatMap(([service, table]) => {
    const source = sourceOf(service);
    const isRead = (name: string) => new RegExp(`\\b${name}\\b`).test(source) || readByRules.has(`${service} ${name}`);
    const names = Object.entries(table).filter(([name, { awaits }]) => isRead(name) === (awaits !== undefined));
    return names.map(([name]) => `${service} ${name}`);
  });
  expect(wrong).toEqual([]);
});

/** Variables that only the rules of the boot read, in contracts/env/check.ts. */
const readByRules: ReadonlySet<string> = new Set([
  'backend PUBLIC_FRONTEND_URL',
  'backend NODE_ENV',
  'frontend NODE_ENV',
  'remote-mcp PUBLIC_MCP_URL',
  'remote-mcp PUBLIC_BACKEND_URL',
  'remote-mcp NODE_ENV',
  // All services of a platform get this variable, whether or not their rules need it.
  'runtime NODE_ENV',
]);

function sourceOf(service: string): string {
  const folder = join(repository, 'services', service);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.test\.ts$|(^|\/)test\//.test(path))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n');
}

/** Number of table rows, rules and points in the specification, by part. */
const rowsOfPart = { 1: 12, 2: 10, 3: 6, 4: 8, 5: 18, 6: 2, 7: 11, 9: 3 };

test('no row of a part was forgotten', () => {
  for (const [part, count] of Object.entries(rowsOfPart)) {
    const rows = Object.keys(requirements).filter((id) => id.startsWith(`${part}.`));
    expect(rows.length, `part ${part}`).toBe(count);
  }
});
