import { expect, test } from 'vitest';
import { readYaml } from './yaml-text.ts';

test('aliases beyond what people write are a mistake', () => {
  const few = `a: &a [1]\nb: [${Array(50).fill('*a').join(', ')}]`;
  expect(readYaml(few)).toMatchObject({ value: { a: [1] } });
  const many = `a: &a [1]\nb: [${Array(150).fill('*a').join(', ')}]`;
  expect(readYaml(many)).toEqual([{ line: 1, column: 1, message: expect.stringContaining('aliases') }]);
});

test('a name that would vanish is a mistake where it stands', () => {
  expect(readYaml('a: 1\nb:\n  __proto__: { c: 1 }\n')).toEqual([
    { line: 3, column: 3, message: '"__proto__" is no name.' },
  ]);
});
