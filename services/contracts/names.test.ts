import { describe, expect, test } from 'vitest';
import { newId } from './ids.ts';
import { parseDescription, parseName } from './names.ts';

describe('names', () => {
  test.each([
    ['role', '  Reader ', 'Reader'],
    ['workspace', 'A b-c_d.9', 'A b-c_d.9'],
    ['key', 'x'.repeat(64), 'x'.repeat(64)],
    ['skill', 'read-documents', 'read-documents'],
    ['mcpServer', 'Files_2-x', 'Files_2-x'],
  ] as const)('%s "%s"', (kind, text, name) => {
    expect(parseName(kind, text)).toBe(name);
  });

  test.each([
    ['role', ''],
    ['role', '   '],
    ['role', 'x'.repeat(65)],
    ['role', 'a/b'],
    ['role', 'a\nb'],
    ['role', 'Größe'],
    ['role', '<b>'],
    ['skill', 'Read'],
    ['skill', 'read_documents'],
    ['skill', '-read'],
    ['skill', 'read-'],
    ['skill', 'read--documents'],
    ['skill', 'x'.repeat(65)],
    ['mcpServer', 'a b'],
    ['mcpServer', 'a.b'],
    ['mcpServer', 'x'.repeat(33)],
  ] as const)('%s "%s" is refused', (kind, text) => {
    expect(() => parseName(kind, text)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  test('that could be taken for an id are refused', () => {
    expect(() => parseName('key', newId('key'))).toThrow(/looks like an id/);
    expect(() => parseName('key', newId('role'))).toThrow(/looks like an id/);
    expect(parseName('key', 'key_mine')).toBe('key_mine');
  });
});

test('a description may be 1024 characters long', () => {
  expect(parseDescription(` ${'x'.repeat(1024)} `)).toHaveLength(1024);
  expect(() => parseDescription('x'.repeat(1025))).toThrow(/at most 1024/);
});
