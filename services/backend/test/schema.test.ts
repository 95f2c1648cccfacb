import { readFileSync } from 'node:fs';
import { buildSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { createSchema } from '../graphql/schema.ts';

test('the schema in the code equals the schema file', () => {
  const file = new URL('../../contracts/graphql/schema.graphql', import.meta.url);
  const written = lexicographicSortSchema(buildSchema(readFileSync(file, 'utf8')));
  const made = lexicographicSortSchema(createSchema());
  expect(printSchema(made)).toBe(printSchema(written));
});
