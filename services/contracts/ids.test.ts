import { describe, expect, it } from 'vitest';
import { subjects } from './bus/subjects.ts';
import { SvcError } from './errors.ts';
import { id as idSchema } from './id-schema.ts';
import {
  findId,
  findProcessId,
  findSessionId,
  type IdKind,
  idPrefixes,
  newId,
  newProcessId,
  newSessionId,
  parseId,
  randomText,
} from './ids.ts';

const kinds = Object.keys(idPrefixes).filter((kind): kind is IdKind => kind in idPrefixes);

describe.each(kinds)('the id of a %s', (kind) => {
  it("starts with its kind's prefix and is parsed as that kind only", () => {
    const id = newId(kind);
    expect(id).toMatch(new RegExp(`^${idPrefixes[kind]}_[0-9A-Za-z]{24}$`));
    expect(parseId(kind, id)).toBe(id);
    expect(idSchema(kind).parse(id)).toBe(id);
    for (const other of kinds) {
      if (other === kind) continue;
      expect(findId(other, id)).toBeNull();
      expect(idSchema(other).safeParse(id).success).toBe(false);
    }
  });

  it.each(['', 'x', '_', 'x y', `${'0'.repeat(23)}`, `${'0'.repeat(25)}`, `${'0'.repeat(23)}-`, `${'0'.repeat(24)}\n`])(
    'is not its prefix with %j',
    (body) => {
      const text = `${idPrefixes[kind]}_${body}`;
      expect(findId(kind, text)).toBeNull();
      expect(() => parseId(kind, text)).toThrow(SvcError);
      expect(idSchema(kind).safeParse(text).success).toBe(false);
    },
  );
});

describe('ids', () => {
  it('have a different prefix for each kind', () => {
    expect(new Set(Object.values(idPrefixes)).size).toBe(kinds.length);
  });

  it('are in the order of their time', () => {
    const times = [0, 1, 61, 62, 3843, 1_700_000_000_000, 1_700_000_000_001, 218_340_105_584_895];
    const ids = times.map((time) => newId('role', time));
    expect([...ids].sort()).toEqual(ids);
  });

  it('of the same moment differ, and are in the order of their creation', () => {
    const ids = Array.from({ length: 5000 }, () => newId('role', 1));
    expect(new Set(ids).size).toBe(5000);
    expect([...ids].sort()).toEqual(ids);
  });

  it('are refused with the kind in the message, without a long text', () => {
    expect(() => parseId('role', 'x'.repeat(5000))).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(/^.{1,200}$/) }),
    );
    expect(() => parseId('role', 'skl_1')).toThrow(/"skl_1" is not the id of a role/);
  });

  it.each([null, 1, {}, ['rol_']])('are never %j', (value) => {
    expect(idSchema('role').safeParse(value).success).toBe(false);
  });

  it('and names of processes and sessions contain no dot, so that each is one token of a subject', () => {
    expect(subjects.call(newId('runtime'), newProcessId()).split('.')).toHaveLength(5);
    expect(subjects.session(newSessionId()).split('.')).toHaveLength(3);
  });
});

describe('names of processes and sessions', () => {
  it('are parsed again', () => {
    const [process, session] = [newProcessId(), newSessionId()];
    expect(findProcessId(process)).toBe(process);
    expect(findSessionId(session)).toBe(session);
  });

  it.each(['', 'p', 'p0123456789', 'p012345678901', 'q01234567890', 'p0123456789.', 'p01234567890\n'])(
    '%j is not a process',
    (text) => {
      expect(findProcessId(text)).toBeNull();
    },
  );

  it.each(['', '0'.repeat(31), '0'.repeat(33), `${'0'.repeat(31)}.`, `${'0'.repeat(32)}\n`, `${'0'.repeat(31)}ü`])(
    '%j is not a session',
    (text) => {
      expect(findSessionId(text)).toBeNull();
    },
  );
});

describe('random text', () => {
  it('has the requested length and every letter and digit about equally often', () => {
    expect(randomText(0)).toBe('');
    const counts = new Map<string, number>();
    const text = Array.from({ length: 10 }, () => randomText(62_000)).join('');
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 10,000 each, give or take eight standard deviations.
    expect(Math.min(...counts.values())).toBeGreaterThan(9200);
    expect(Math.max(...counts.values())).toBeLessThan(10_800);
  });
});
