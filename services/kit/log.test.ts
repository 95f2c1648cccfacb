import { describe, expect, it } from 'vitest';
import { newKey } from '../contracts/keys.ts';
import { Secret } from '../contracts/secret.ts';
import { createLog, type LogOptions, levelFor } from './log.ts';

function written(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, log: createLog({ service: 'runtime', level: 'info', destination, ...options }) };
}

describe('a line of the log', () => {
  it('is one JSON object with level, time, service, logger, fields and text, in this order', () => {
    const { lines, log } = written();
    log('bus').info({ subject: 'a.b' }, 'connected');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    const line: Record<string, unknown> = JSON.parse(lines[0] ?? '');
    expect(Object.keys(line)).toEqual(['level', 'time', 'service', 'name', 'subject', 'msg']);
    expect(line).toMatchObject({ level: 'info', service: 'runtime', name: 'bus', subject: 'a.b', msg: 'connected' });
    expect(new Date(String(line.time)).toISOString()).toBe(line.time);
  });

  it('reports an error with its cause', () => {
    const { lines, log } = written();
    log('bus').error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed');
    expect(lines[0]).toContain('outer');
    expect(lines[0]).toContain('TypeError: inner');
  });

  it('never holds a Secret', () => {
    const { lines, log } = written();
    const secret = new Secret('hunter2');
    log('bus').info({ secret, deep: { list: [secret] }, err: new Error(`no ${secret}`) }, 'tried');
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]?.match(/\[secret\]/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ['a user key', newKey('user').reveal()],
    ['a runtime key', newKey('runtime').reveal()],
    ['a system key', newKey('system').reveal()],
    ['a key of an older installation', 'USKabcdefghijklmnop0123456789'],
    ['a retired key', 'WSK_abcdefghijklmnop0123456789'],
    ['a signed token', 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl-_'],
    ['a sealed configuration', 'eyJhbGciOiJFQ0RILUVTIn0..aXY_-.Y2lwaGVydGV4dA.dGFn'],
  ])('never holds %s from a foreign text', (_, key) => {
    const { lines, log } = written();
    log('child').warn({ text: `connecting with ${key}, retrying`, list: [key] }, `said "${key}"`);
    expect(lines[0]).not.toContain(key.slice(5, -5));
    expect(lines[0]?.match(/\[secret\]/g)).toHaveLength(3);
    expect(() => JSON.parse(lines[0] ?? '')).not.toThrow();
  });

  it('keeps the hint of a key, which is not a secret', () => {
    const { lines, log } = written();
    log('keys').info({ hint: 'SVA_…a1B2' }, 'created a key');
    expect(lines[0]).toContain('SVA_…a1B2');
  });
});

describe('levels', () => {
  it('leave out lower levels', () => {
    const { lines, log } = written({ level: 'warn' });
    log('bus').info('left out');
    log('bus').warn('said');
    expect(lines).toHaveLength(1);
  });

  it('of a logger are those of the most specific pattern, above or below the general one', () => {
    const levels = [
      { pattern: '*', level: 'error' },
      { pattern: 'super*', level: 'debug' },
      { pattern: 'supervisor', level: 'trace' },
    ] as const;
    const { lines, log } = written({ level: 'info', levels });
    log('bus').warn('left out');
    log('supernova').debug('said 1');
    log('supernova').trace('left out');
    log('supervisor').trace('said 2');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['said 1', 'said 2']);
  });

  it.each([
    ['bus', [['bus', 'debug']], 'debug'],
    ['bus', [['other', 'debug']], null],
    ['bus', [['bu', 'debug']], null],
    ['bus.a', [['bus', 'debug']], null],
    ['bus.a', [['bus.*', 'debug']], 'debug'],
    ['busXa', [['bus.*', 'debug']], null],
    ['bus.a', [['*.a', 'warn']], 'warn'],
    [
      'bus.a',
      [
        ['*', 'warn'],
        ['bus*', 'debug'],
      ],
      'debug',
    ],
    [
      'bus.a',
      [
        ['bus*', 'debug'],
        ['*', 'warn'],
      ],
      'debug',
    ],
    [
      'bus.a',
      [
        ['bus.*', 'debug'],
        ['bus*', 'warn'],
      ],
      'debug',
    ],
    [
      'bus.a',
      [
        ['bus.*', 'debug'],
        ['bus.*', 'warn'],
      ],
      'warn',
    ],
    ['bus', [], null],
  ] as const)('for %s by %j are %s', (name, rules, expected) => {
    expect(
      levelFor(
        name,
        rules.map(([pattern, level]) => ({ pattern, level })),
      ),
    ).toBe(expected);
  });
});

it('a logger requested twice is the same', () => {
  const { log } = written();
  expect(log('bus')).toBe(log('bus'));
});
