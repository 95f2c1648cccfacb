import { expect, test } from 'vitest';
import { describeMistakes, YamlText } from './yaml-text.ts';

test('too many aliases are a mistake', () => {
  const few = `a: &a [1]\nb: [${Array(50).fill('*a').join(', ')}]`;
  expect(new YamlText(few)).toMatchObject({ value: { a: [1] } });
  const many = `a: &a [1]\nb: [${Array(150).fill('*a').join(', ')}]`;
  expect(new YamlText(many).mistakes).toEqual([{ line: 1, column: 1, message: expect.stringContaining('aliases') }]);
});

test('a name that JavaScript would lose is a mistake', () => {
  expect(new YamlText('a: 1\nb:\n  __proto__: { c: 1 }\n').mistakes).toEqual([
    { line: 3, column: 3, message: '"__proto__" is not a valid name.' },
  ]);
});

test('too deep a nesting is a mistake where it begins', () => {
  const nested = (levels: number) => `a: ${'['.repeat(levels)}${']'.repeat(levels)}\n`;
  expect(new YamlText(nested(50)).mistakes).toEqual([]);
  expect(new YamlText(nested(100_000)).mistakes).toEqual([
    { line: 1, column: expect.any(Number), message: 'The file is nested too deep: at most 64 levels.' },
  ]);
});

test('a duplicate name, and a second document, are mistakes', () => {
  expect(new YamlText('a: 1\nb: { c: 1, c: 2 }\na: 2\n').mistakes).toEqual([
    { line: 2, column: 12, message: 'The name "c" is used twice.' },
    { line: 3, column: 1, message: 'The name "a" is used twice.' },
  ]);
  expect(new YamlText('a: 1\n---\nb: 1\n').mistakes).toMatchObject([
    { line: 2, message: expect.stringContaining('more than one') },
  ]);
});

test('a hundred thousand names are read, and each is found, in seconds', () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `name${at}`);
  const read = new YamlText(names.map((name) => `${name}: 1\n`).join(''));
  expect(names.map((name) => read.locateName([name]).line)).toEqual(names.map((_, at) => at + 1));
}, 10_000);

test('of many mistakes the first are reported', () => {
  const mistakes = Array.from({ length: 200_000 }, (_, at) => ({ line: at + 1, column: 1, message: 'x'.repeat(5000) }));
  const told = describeMistakes('p.yaml', mistakes).split('\n');
  expect(told).toHaveLength(51);
  expect(told.at(-1)).toBe('p.yaml has 199950 more mistakes.');
});
