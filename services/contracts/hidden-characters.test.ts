import { describe, expect, test } from 'vitest';
import { escapeHidden, withoutHidden } from './hidden-characters.ts';

const hidden: Readonly<Record<string, string>> = {
  escape: '\u001b',
  null: '\0',
  bell: '\u0007',
  backspace: '\b',
  'carriage return': '\r',
  'form feed': '\f',
  delete: '\u007f',
  'C1 CSI': '\u009b',
  'C1 OSC': '\u009d',
  'next line': '\u0085',
  'soft hyphen': '\u00ad',
  'Arabic letter mark': '\u061c',
  'zero-width space': '\u200b',
  'left-to-right mark': '\u200e',
  'right-to-left mark': '\u200f',
  'line separator': '\u2028',
  'paragraph separator': '\u2029',
  'right-to-left override': '\u202e',
  'word joiner': '\u2060',
  'bidirectional isolate': '\u2066',
  'byte order mark': '\ufeff',
  'Hangul filler': '\u3164',
  'half a character': '\ud800',
  tag: '\u{e0041}',
  'ideographic variation selector': '\u{e0100}',
};

describe.each(Object.entries(hidden))('%s', (_, character) => {
  test('is shown as a sign', () => expect(withoutHidden(`a${character}b`)).toBe('a\ufffdb'));

  test('is escaped in JSON with the same meaning', () => {
    const text = `a${character}b`;
    const escaped = escapeHidden(JSON.stringify({ [text]: text }));
    expect(escaped).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(escaped)).toEqual({ [text]: text });
  });
});

test.each(['line\nbreak\tand tab', 'ä€漢字 العربية', '👩‍👩‍👧 ❤️', 'می‌خواهم', '葛\ufe00', '\ufffd'])(
  '%j stays unchanged',
  (text) => {
    expect(withoutHidden(text)).toBe(text);
    expect(escapeHidden(text)).toBe(text);
  },
);
