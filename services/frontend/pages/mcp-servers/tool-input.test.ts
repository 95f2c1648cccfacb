import { describe, expect, test } from 'vitest';
import { findSchemaProblems } from './schema-problems.ts';
import { fieldsOf, inputSchemaOf, readForm, readJsonInput, type Typed } from './tool-input.ts';

const schema = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 10, default: 5 },
    path: { type: 'string', title: 'Path', description: 'Where it is.', minLength: 2 },
    mode: { enum: ['fast', 'slow', 3] },
    deep: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 2, uniqueItems: true },
    maybe: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
    other: { anyOf: [{ type: 'number' }, { type: 'string' }] },
    place: { $ref: '#/$defs/place' },
  },
  required: ['path'],
  additionalProperties: false,
  $defs: { place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
};
const fields = fieldsOf(schema) ?? [];
const read = (typed: Record<string, string>) => readForm(schema, fields, new Map(Object.entries(typed)) as Typed);
const problemsOf = (typed: Record<string, string>) => {
  const form = read(typed);
  return form.ok ? {} : Object.fromEntries(form.problems);
};

test('each argument is a field, and required ones are first', () => {
  expect(fields.map(({ name, kind, required }) => [name, kind.kind, required])).toEqual([
    ['path', 'text', true],
    ['limit', 'number', false],
    ['mode', 'choice', false],
    ['deep', 'choice', false],
    ['tags', 'json', false],
    ['maybe', 'number', false],
    ['other', 'json', false],
    ['place', 'json', false],
  ]);
  expect(fields[0]).toMatchObject({ title: 'Path', description: 'Where it is.', defaultText: '' });
  expect(fields[1]?.defaultText).toBe('5');
});

test('a filled form is the input, and an empty field is left out', () => {
  const typed = { path: 'a b ', limit: '3', mode: '2', deep: '1', tags: '["x"]', maybe: ' ', place: '{"city":"B"}' };
  const input = { path: 'a b ', limit: 3, mode: 3, deep: false, tags: ['x'], place: { city: 'B' } };
  expect(read(typed)).toEqual({ ok: true, input });
});

describe('a wrong value is named at its field', () => {
  test.each<readonly [Record<string, string>, Record<string, string>]>([
    [{}, { path: 'It is required.' }],
    [{ path: 'x' }, { path: 'It must have 2 characters or more.' }],
    [{ path: 'xx', limit: 'many' }, { limit: 'It must be a number.' }],
    [{ path: 'xx', limit: '1.5' }, { limit: 'It must be a whole number.' }],
    [{ path: 'xx', limit: '11' }, { limit: 'It must be 10 at most.' }],
    [{ path: 'xx', tags: '[' }, { tags: 'It is not JSON.' }],
    [{ path: 'xx', tags: '{}' }, { tags: 'It must be a list.' }],
    [{ path: 'xx', tags: '["a",1]' }, { tags: '"[1]" must be a text.' }],
    [{ path: 'xx', tags: '["a","a"]' }, { tags: 'It must not have an entry twice.' }],
    [{ path: 'xx', other: 'true' }, { other: 'It fits none of the forms that the tool takes.' }],
    [{ path: 'xx', place: '{}' }, { place: '"city" is required.' }],
  ])('%j', (typed, problems) => {
    expect(problemsOf(typed)).toEqual(problems);
  });
});

describe('JSON in place of the form', () => {
  test('is checked by the same schema', () => {
    expect(readJsonInput(schema, '{"path":"xx","maybe":null}')).toEqual({
      ok: true,
      input: { path: 'xx', maybe: null },
    });
    expect(readJsonInput({ type: 'object' }, ' ')).toEqual({ ok: true, input: {} });
  });

  test.each([
    ['{', 'It is not JSON.'],
    ['[]', 'It must be an object, such as {"path": "."}.'],
    ['{"path":"xx","more":1}', '"more" is not known to the tool.'],
    ['{"path":1,"mode":"x"}', '"path" must be a text. "mode" must be one of "fast", "slow", 3.'],
  ])('%s', (text, message) => {
    const result = readJsonInput(schema, text);
    expect(result.ok ? '' : result.problems.get('')).toBe(message);
  });
});

describe('a hostile schema', () => {
  test('names no member that the value only inherits', () => {
    const hostile = { type: 'object', properties: { __proto__: { type: 'number' } }, required: ['constructor'] };
    expect(findSchemaProblems(hostile, {})).toEqual([{ path: ['constructor'], message: 'is required' }]);
  });

  test.each([
    ['refers to itself', { $ref: '#' }],
    ['refers to itself in alternatives', { anyOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }] }],
    ['refers to itself in an object', { allOf: [{ $ref: '#' }, { properties: { a: { $ref: '#' } } }] }],
    ['has a slow pattern', { properties: { a: { pattern: '^(a+)+$' } } }],
    ['has many alternatives', { anyOf: Array.from({ length: 100_000 }, () => ({ type: 'null' })) }],
  ])('that %s takes no time', (_what, hostile) => {
    const started = performance.now();
    findSchemaProblems(hostile, { a: `${'a'.repeat(60)}!` });
    expect(performance.now() - started).toBeLessThan(500);
  });

  test('with too many fields is filled in as JSON', () => {
    const properties = Object.fromEntries(Array.from({ length: 61 }, (_, at) => [`p${at}`, { type: 'string' }]));
    expect(fieldsOf({ type: 'object', properties })).toBe(null);
    expect(fieldsOf({ type: 'object', oneOf: [] })).toBe(null);
    expect(fieldsOf({ type: 'object', required: ['unlisted'] })).toBe(null);
  });

  test.each(['', '[]', '{}', 'null', '{"inputSchema":null}'])('that is no definition has none: %s', (definition) => {
    expect(inputSchemaOf(definition)).toBe(null);
  });
});
