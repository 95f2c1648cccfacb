import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastWords } from './last-words.ts';

let log: string;
beforeEach(() => {
  log = join(mkdtempSync(join(tmpdir(), 'svc-words-')), 'part.log');
});
afterEach(() => rmSync(join(log, '..'), { recursive: true, force: true }));

const told = '{"level":"info","msg":"told"}\n';

test('are the errors since its start', () => {
  writeFileSync(log, `of another\n${told}it broke\n${told}`);
  expect(lastWords(log, 'of another\n'.length)).toBe('it broke');
  expect(lastWords(log, null)).toBe('of another · it broke');
});

test('are none without errors', () => {
  writeFileSync(log, told);
  expect(lastWords(log, 0)).toBeNull();
  expect(lastWords(join(log, 'gone'), 0)).toBeNull();
});

test('do not include the rest of an earlier line', () => {
  writeFileSync(log, `{"level":"info","msg":"${'x'.repeat(20_000)}"}\n${told}`);
  expect(lastWords(log, 0)).toBeNull();
});
