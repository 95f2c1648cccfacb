import { expect, test } from 'vitest';
import { parseFilePath } from './file-path.ts';

test.each([
  'a',
  'references/forms.md',
  'a b/c d.txt',
  '...',
  '.hidden/..a',
  'größe/日本語.md',
  'x'.repeat(255),
  'sub/SKILL.md',
  'console.md',
  'auxiliary/com10.txt',
  '👩‍💻'.slice(0, 2),
])('"%s" is a path', (path) => {
  expect(parseFilePath(path)).toBe(path);
});

test.each([
  ['', /empty/],
  ['/a', /relative/],
  ['../a', /each part must be a name/],
  ['a/..', /each part must be a name/],
  ['a//b', /each part must be a name/],
  ['./a', /each part must be a name/],
  ['a/', /each part must be a name/],
  ['C:\\a', /separated by \//],
  ['C:a', /drive or a device/],
  ['a/C:', /drive or a device/],
  ['notes.md:hidden', /drive or a device/],
  ['nul', /drive or a device/],
  ['AUX.md', /drive or a device/],
  ['a/com1.tar.gz', /drive or a device/],
  ['a/lpt9 .txt/b', /drive or a device/],
  ['CONOUT$', /drive or a device/],
  [' a', /begin or end with a space/],
  ['a/b ', /begin or end with a space/],
  ['a\0', /invisible characters/],
  ['a\u202eb', /invisible characters/],
  ['a\u2028b', /invisible characters/],
  ['\ud800', /invisible characters/],
  ['x'.repeat(256), /longer than 255 bytes/],
  ['é'.repeat(128), /longer than 255 bytes/],
  ['skill.md', /SKILL.md is the skill itself/],
])('%j is none', (path, why) => {
  expect(() => parseFilePath(path)).toThrow(why);
});

test('is the same in every Unicode composition', () => {
  expect(parseFilePath('e\u0301')).toBe('\u00e9');
});
