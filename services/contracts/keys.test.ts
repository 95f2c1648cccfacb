import { describe, expect, it } from 'vitest';
import { keyHint, keyPrefixes, newKey, parseKey, withoutKeys } from './keys.ts';

const kinds = ['user', 'runtime', 'system'] as const;
const good = newKey('user').reveal();
const legacy = 'USK-of-old-0123456789';

describe('a new key', () => {
  it.each(kinds)('of kind %s has its prefix, 43 characters of secret and 6 of checksum', (kind) => {
    expect(newKey(kind).reveal()).toMatch(new RegExp(`^${keyPrefixes[kind]}[0-9A-Za-z]{49}$`));
  });

  it.each(kinds)('of kind %s is parsed as that kind', (kind) => {
    for (let i = 0; i < 100; i++) {
      const key = newKey(kind).reveal();
      const parsed = parseKey(key);
      expect(parsed).toMatchObject({ ok: true, kind, hint: `${keyPrefixes[kind]}…${key.slice(-4)}` });
      expect(parsed.ok && parsed.key.reveal()).toBe(key);
    }
  });

  it('is never the same twice', () => {
    const keys = new Set(Array.from({ length: 1000 }, () => newKey('user').reveal()));
    expect(keys.size).toBe(1000);
  });

  it('does not print its text once parsed', () => {
    expect(JSON.stringify(parseKey(good))).not.toContain(good.slice(4, -4));
  });
});

describe('a text that is not a key is refused by its form:', () => {
  it.each([
    ['nothing', '', 'missing'],
    ['a workspace key', 'WSK_0123456789', 'retired'],
    ['a workspace key that is otherwise well formed', `WSK_${good.slice(4)}`, 'retired'],
    ['another prefix', `ABC_${good.slice(4)}`, 'unknown_prefix'],
    ['a prefix in small letters', good.replace('SVA_', 'sva_'), 'unknown_prefix'],
    ['a prefix without its underscore', good.replace('SVA_', 'SVA'), 'unknown_prefix'],
    ['no prefix', good.slice(4), 'unknown_prefix'],
    ['a space before', ` ${good}`, 'unknown_prefix'],
    ['a space after', `${good} `, 'malformed'],
    ['a line break after', `${good}\n`, 'malformed'],
    ['a prefix alone', 'SVA_', 'malformed'],
    ['a character missing', good.slice(0, -1), 'malformed'],
    ['a character too many', `${good}0`, 'malformed'],
    ['a character that no key has', `${good.slice(0, 10)}-${good.slice(11)}`, 'malformed'],
    ['a letter with an accent', `${good.slice(0, 10)}é${good.slice(11)}`, 'malformed'],
    ['a key of another kind under this prefix', `RTK_${good.slice(4)}`, 'checksum'],
    ['an old key without anything', 'USK', 'malformed'],
    ['an old key with a space', 'USK with space', 'malformed'],
    ['an old key with a control character', 'USK-\u0007', 'malformed'],
    ['an old key that is too long', `USK${'x'.repeat(510)}`, 'malformed'],
  ])('%s', (_, text, refusal) => {
    expect(parseKey(text)).toEqual({ ok: false, refusal });
  });

  it('a typo at any place', () => {
    for (let at = keyPrefixes.user.length; at < good.length; at++) {
      const other = good[at] === 'a' ? 'b' : 'a';
      const typo = good.slice(0, at) + other + good.slice(at + 1);
      expect(parseKey(typo), `at ${at}`).toEqual({ ok: false, refusal: 'checksum' });
    }
  });

  it('two swapped neighbouring characters', () => {
    for (let at = keyPrefixes.user.length; at < good.length - 1; at++) {
      const swapped = good.slice(0, at) + good.charAt(at + 1) + good.charAt(at) + good.slice(at + 2);
      if (swapped !== good) expect(parseKey(swapped), `at ${at}`).toEqual({ ok: false, refusal: 'checksum' });
    }
  });
});

describe('an old key', () => {
  it('is accepted without a checksum', () => {
    const parsed = parseKey(legacy);
    expect(parsed).toMatchObject({ ok: true, kind: 'legacy', hint: 'USK…6789' });
    expect(parsed.ok && parsed.key.reveal()).toBe(legacy);
    expect(parseKey(`USK${'x'.repeat(509)}`)).toMatchObject({ ok: true, kind: 'legacy' });
  });
});

describe('a hint', () => {
  it('shows the prefix and the last four characters', () => {
    expect(keyHint(good)).toBe(`SVA_…${good.slice(-4)}`);
    expect(keyHint(legacy)).toBe('USK…6789');
  });

  it('of a short text shows the prefix alone', () => {
    for (const short of ['USK1', 'USKabcdef', 'USK0123456789abcde']) expect(keyHint(short)).toBe('USK…');
  });
});

describe('a text with keys in it', () => {
  const retired = `WSK_${good.slice(4)}`;
  it.each([
    ['one in quotes', `"${good}" is not an id.`, '"SVA_…" is not an id.'],
    ['one that was cut short', `"${good.slice(0, 12)}" is not an id.`, '"SVA_…" is not an id.'],
    ['several', `${newKey('runtime').reveal()},${newKey('system').reveal()} ${retired}`, 'RTK_…,SYK_… WSK_…'],
    ['one right after a word', `Bearer${good}`, 'BearerSVA_…'],
    ['an older one', `There is no "${legacy}".`, 'There is no "USK…".'],
    ['an older one with marks in it', 'There is no "USK-a"b}c/d:e".', 'There is no "USK…".'],
  ])('shows none of them: %s', (_what, text, shown) => {
    expect(withoutKeys(text)).toBe(shown);
  });

  it.each([
    'none of the accepted prefixes: "SVA_" and "USK".',
    `as a list shows it: ${keyHint(good)}`,
    'srv_0Abc1USKdefghijklmnopqr',
    'USK keys arrive by svc keys import.',
    'A key starts with SVA_….',
  ])('stays unchanged without one: %s', (text) => {
    expect(withoutKeys(text)).toBe(text);
  });
});
