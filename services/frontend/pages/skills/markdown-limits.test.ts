import { expect, test } from 'vitest';
import { mayFormat } from './markdown-limits.ts';

test('instructions as people write them are formatted', () => {
  const section = '# Forms\n\nRead *carefully*.\n\n> A quote\n\n- one\n  - two\n    1. three\n\n---\n\n';
  expect(mayFormat(section)).toBe(true);
  expect(mayFormat(section.repeat(700))).toBe(true);
  expect(mayFormat(`${'-'.repeat(200)}\n\n| a | b |\n${'|'.repeat(100)}`)).toBe(true);
});

test.each([
  ['more than 64 KiB', 'a line\n\n'.repeat(10_000)],
  ['a long block', '*a_ '.repeat(3000)],
  ['deep quotes', `text\n\n${'>'.repeat(40)} text`],
  ['deep lists', '- '.repeat(40)],
  ['deep numbered lists', '1. '.repeat(40)],
])('%s is shown as text', (_, text) => {
  expect(mayFormat(text)).toBe(false);
});

test('the decision takes little time for any text', () => {
  const start = performance.now();
  for (const part of [' ', '>', '> ', '- ', '1', '1. ', '\t', '\n', ' \n']) mayFormat(part.repeat(100_000));
  expect(performance.now() - start).toBeLessThan(1000);
});
