import { expect, test } from 'vitest';
import { describeMistakes, YamlText } from './yaml-text.ts';

test('too many aliases are a mistake', () => {
  const few = `a: &a [1]\nb: [${Array(50).fill('*a').join(', ')}]`;
  expect(new YamlText(few)).toMatchObject({ value: { a: [1] } });
  const many = `a: &a [1]\nb: [${Array(150).fill('*a').join(', ')}]`;
  expect(new YamlText(many).mistakes).toEqual([{ line: 1, column: 1, message: expect.stringContaining('aliases') }]);
});

test('too deep a nesting is a mistake where it begins', () => {
  const nested = (levels: number) => `a: ${'['.repeat(levels)}${']'.repeat(levels)}\n`;
  expect(new YamlText(nested(50)).mistakes).toEqual([]);
  expect(new YamlText(nested(100_000)).mistakes).toEqual([
    { line: 1, column: expect.any(Number), message: 'The file is nested too deep: at most 64 levels.' },
  ]);
});

test('a hundred thousand names are read, and each is found, in seconds', () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `name${at}`);
  const read = new YamlText(names.map((name) => `${name}: 1\n`).join(''));
  expect(names.map((name) => read.locateName([name]).line)).toEqual(names.map((_, at) => at + 1));
}, 10_000);

test('of many mistakes the first are reported', () => {
  const mistakes = Array.from({ length: 200_000 }, (_, at) => ({ line: at + 1, column: 1, message: 'x'.repeat(5000) }));
  const lines = describeMistakes('p.yaml', mistakes).split('\n');
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe('p.yaml has 199950 more mistakes.');
});
