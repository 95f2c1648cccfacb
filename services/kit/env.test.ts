import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SvcError } from '../contracts/errors.ts';
import { readEnv } from './env.ts';

const folder = mkdtempSync(join(tmpdir(), 'env-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hex = 'ab'.repeat(32);
const rest = { JWT_PRIVATE_KEY_PATH: '/jwt.pem', JWT_PUBLIC_KEY_PATH: '/jwt.pub', BUS_SERVERS: 'inproc:' };
const backend = { ...rest, ENCRYPTION_KEY: hex };

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The one error that reports every problem. */
function refusal(read: () => unknown): SvcError {
  try {
    read();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('the environment of a service', () => {
  it('is read with defaults and warnings', () => {
    const { env, warnings } = readEnv('backend', { ...backend, SKILL_IDS: 'a' });
    expect(env.PORT).toBe(3000);
    expect(env.ENCRYPTION_KEY.reveal()).toBe(hex);
    expect(warnings).toHaveLength(1);
  });

  it('with problems is refused with one error that names all of them', () => {
    const error = refusal(() =>
      readEnv('backend', { PORT: 'x', BUS_SERVERS: 'inproc:', PROVIDER_A_API_KEY_FILE: join(folder, 'absent') }),
    );
    expect(error.code).toBe('invalid_input');
    for (const name of [
      'PORT',
      'ENCRYPTION_KEY',
      'JWT_PRIVATE_KEY_PATH',
      'JWT_PUBLIC_KEY_PATH',
      'PROVIDER_A_API_KEY_FILE',
    ]) {
      expect(error.message).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
    expect(error.message).toContain('5 variables are wrong');
  });
});

describe('a secret in a file', () => {
  it.each([
    ['unchanged', hex],
    ['without its final line break', `${hex}\n`],
    ['without the final line break of Windows', `${hex}\r\n`],
  ])('is read %s', (_, content) => {
    const { env } = readEnv('backend', { ...rest, ENCRYPTION_KEY_FILE: file('key', content) });
    expect(env.ENCRYPTION_KEY.reveal()).toBe(hex);
  });

  it('follows the rule of its variable', () => {
    const path = file('short', `${hex}\n\n`);
    const error = refusal(() => readEnv('backend', { ...rest, ENCRYPTION_KEY_FILE: path }));
    expect(error.message).toContain('ENCRYPTION_KEY must be a 64-character hex string');
    expect(error.message).not.toContain(hex);
  });

  it('must not be given twice', () => {
    const both = { ...backend, ENCRYPTION_KEY_FILE: file('key', hex) };
    const error = refusal(() => readEnv('backend', both));
    expect(error.message).toContain('one variable is wrong');
    expect(error.message).toContain('ENCRYPTION_KEY_FILE must not be set together with ENCRYPTION_KEY');
  });

  it.each([
    ['absent', () => join(folder, 'absent'), 'it does not exist'],
    ['a folder', () => folder, 'it is a folder'],
    ['empty', () => file('empty', ''), 'is empty'],
    ['a line break and nothing else', () => file('blank', '\n'), 'is empty'],
    ['too long', () => file('long', 'a'.repeat(70_000)), 'too long'],
    ['without an end', () => '/dev/zero', 'too long'],
  ])('that is %s is reported as the only problem, with its path', (_, make, reason) => {
    const path = make();
    const error = refusal(() => readEnv('backend', { ...rest, ENCRYPTION_KEY_FILE: path }));
    expect(error.message).toContain('one variable is wrong');
    expect(error.message).toContain(`ENCRYPTION_KEY_FILE must name a readable file`);
    expect(error.message).toContain(path);
    expect(error.message).toContain(reason);
  });

  it('may hold the identity of a runtime', () => {
    const key = `SYK_${'a'.repeat(49)}`;
    const { env } = readEnv('runtime', { SYSTEM_KEY_FILE: file('system', key), RUNTIME_NAME: 'cloud' });
    expect(env.SYSTEM_KEY?.reveal()).toBe(key);
    const absent = { SYSTEM_KEY_FILE: join(folder, 'absent'), RUNTIME_NAME: 'cloud' };
    expect(refusal(() => readEnv('runtime', absent)).message).toContain('one variable is wrong');
  });

  it('exists for secrets only: other variables have no such twin', () => {
    const { env } = readEnv('backend', { ...backend, JWT_ISSUER_FILE: file('issuer', 'other') });
    expect(env.JWT_ISSUER).toBe('service-platform');
  });

  it('with the development key in production is refused like the key itself', () => {
    const production = { ...rest, NODE_ENV: 'production', PUBLIC_BACKEND_URL: 'http://localhost:3000' };
    const path = file('development', '0'.repeat(64));
    const error = refusal(() => readEnv('backend', { ...production, ENCRYPTION_KEY_FILE: path }));
    expect(error.message).toContain('ENCRYPTION_KEY must not be the development key in production');
  });
});
