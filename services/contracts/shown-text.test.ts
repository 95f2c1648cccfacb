import { expect, test } from 'vitest';
import { isShownName, shownLine, shownText } from './shown-text.ts';

test.each([
  ['a harmless text', 'ü \t\n 😀', 'ü \t\n 😀'],
  ['NUL, escape and C1', 'a\0b\u001b[31mc\u009b', 'a b [31mc '],
  ['half of a surrogate pair', 'a\ud83d', 'a\ufffd'],
  ['a long text', 'x'.repeat(21), `${'x'.repeat(19)}…`],
  ['text with changed direction', 'a\u202eb\u2066c\u200e', 'abc'],
  ['invisible characters', 'a\u200bb\u{e0041}c\u{e0100}', 'abc'],
  ['a line separator', 'a\u2028b', 'a b'],
  ['an emoji of several', '👩‍👧 ❤️', '👩‍👧 ❤️'],
  ['a pair at the cut', `${'x'.repeat(18)}😀😀`, `${'x'.repeat(18)}\ufffd…`],
])('%s', (_name, given, shown) => {
  expect(shownText(given, 20)).toBe(shown);
  expect(shownText(shown, 20)).toBe(shown);
});

test('a line has no line feed', () => {
  expect(shownLine('a\nb', 20)).toBe('a b');
});

test.each([
  ['read', true],
  ['läs 😀', true],
  ['a\0', false],
  ['a\nb', false],
  ['a\ud800', false],
  ['a\u202eb', false],
  ['a\u200b', false],
  ['a\u200d', false],
  ['a\u{e0041}', false],
  ['a\u{e0100}', false],
])('%j is a name that can be shown: %s', (name, isShown) => {
  expect(isShownName(name)).toBe(isShown);
});
