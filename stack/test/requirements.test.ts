import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { infrastructure, variables } from '../../services/contracts/env/variables.ts';
import { type Requirement, requirements } from './requirements.ts';

const repository = join(import.meta.dirname, '../..');

/** What is wrong with a row, or nothing. */
function complaintsAbout({ id, shown }: Requirement): string[] {
  if (typeof shown === 'string') return shown.length > 'later: '.length ? [] : [`${id} is later without a reason`];
  if (shown.length === 0) return [`${id} has no test`];
  return shown.flatMap((reference) => {
    const at = reference.indexOf(': ');
    const [file, title] = [reference.slice(0, at), reference.slice(at + 2)];
    if (!existsSync(join(repository, file))) return [`${id} names ${file}, which is not there`];
    return readFileSync(join(repository, file), 'utf8').includes(title)
      ? []
      : [`${id} names "${title}", which is not in ${file}`];
  });
}

describe('every requirement', () => {
  test('has a test that is there, or says what it waits for', () => {
    expect(requirements.flatMap(complaintsAbout)).toEqual([]);
  });

  test('is there once', () => {
    const ids = requirements.map((requirement) => requirement.id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('without a test, with a test that is not there or a later without a reason is noticed', () => {
    const row = (shown: Requirement['shown']) => complaintsAbout({ id: 'x', says: '', shown });
    expect(row([])).toEqual(['x has no test']);
    expect(row(['stack/test/none.test.ts: anything'])).toEqual(['x names stack/test/none.test.ts, which is not there']);
    expect(row(['README.md: no such words anywhere in it'])).toEqual([
      'x names "no such words anywhere in it", which is not in README.md',
    ]);
    expect(row('later: ')).toEqual(['x is later without a reason']);
  });
});

test('every variable of the specification has a row', () => {
  const ids = new Set(requirements.map((requirement) => requirement.id));
  const all: Readonly<Record<string, Readonly<Record<string, { readonly source: string }>>>> = {
    ...variables,
    infrastructure,
  };
  const missing = Object.entries(all).flatMap(([service, table]) =>
    Object.entries(table)
      .filter(([, variable]) => variable.source === 'specification')
      .map(([name]) => `8.${service}.${name}`)
      .filter((id) => !ids.has(id)),
  );
  expect(missing).toEqual([]);
});

/** As many rows as the specification has table rows, rules and points, by part. */
const rowsOfPart = { 1: 12, 2: 10, 3: 6, 4: 8, 5: 18, 6: 2, 7: 11, 9: 3 };

test('no row of a part was forgotten', () => {
  for (const [part, count] of Object.entries(rowsOfPart)) {
    expect(requirements.filter((requirement) => requirement.id.startsWith(`${part}.`)).length, `part ${part}`).toBe(
      count,
    );
  }
});
