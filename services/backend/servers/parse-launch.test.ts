import { describe, expect, test } from 'vitest';
import type { LaunchInput } from '../../contracts/launch.ts';
import { launchMaxBytes } from '../../contracts/workspace-limits.ts';
import { parseLaunch } from './parse-launch.ts';

test('a command, with all its settings', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: '_b', value: '' },
  ];
  expect(parseLaunch({ command: ' npx ', args: ['-y', 'x y'], cwd: '/srv', env })).toEqual({
    kind: 'child',
    command: 'npx',
    args: ['-y', 'x y'],
    cwd: '/srv',
    env: { A: '1', _b: '' },
  });
  expect(parseLaunch({ command: 'npx', args: null, env: null, url: null })).toEqual({
    kind: 'child',
    command: 'npx',
    args: [],
    cwd: null,
    env: {},
  });
});

test('a URL, with headers whose names have no case', () => {
  const headers = [{ name: 'Authorization', value: 'Bearer x' }];
  expect(parseLaunch({ url: 'https://x.example/mcp?a=b', headers })).toEqual({
    kind: 'http',
    url: 'https://x.example/mcp?a=b',
    headers: { authorization: 'Bearer x' },
  });
});

const largest = /the launch has \d{5} bytes as JSON, and may have 65536 at most/;
const many = (count: number, value?: string) => Array.from({ length: count }, (_, i) => setting(`A${i}`, value));
const setting = (name: string, value = 'v') => ({ name, value });

test('a password is not repeated, also from a malformed URL', () => {
  const url = 'https//user:p4ssw0rd@x.example/mcp';
  expect(() => parseLaunch({ url })).toThrow('"url" is "https//…@x.example/mcp": it must be a full URL');
});

test('as large as allowed', () => {
  const room = launchMaxBytes - JSON.stringify(parseLaunch({ command: 'x', args: [''] })).length;
  expect(parseLaunch({ command: 'x', args: ['a'.repeat(room)] })).toMatchObject({ kind: 'child' });
  expect(() => parseLaunch({ command: 'x', args: ['a'.repeat(room + 1)] })).toThrow(largest);
  expect(parseLaunch({ command: 'x', env: many(256) })).toMatchObject({ env: { A255: 'v' } });
});

describe('refused', () => {
  const cases: readonly (readonly [string, LaunchInput, RegExp])[] = [
    ['nothing', {}, /give "command".*or "url"/],
    ['both', { command: 'x', url: 'http://x' }, /exclude each other/],
    ['an empty command', { command: '  ' }, /"command" is empty/],
    ['headers of a command', { command: 'x', headers: [] }, /"headers" belong to "url"/],
    ['args of a URL', { url: 'http://x', args: [] }, /"args" belongs to "command"/],
    ['env of a URL', { url: 'http://x', env: [] }, /"env" belongs/],
    ['a relative folder', { command: 'x', cwd: './here' }, /absolute/],
    ['a zero byte', { command: 'x', args: ['a\0b'] }, /zero byte/],
    ['an invalid name of a variable', { command: 'x', env: [setting('A-B')] }, /"A-B" in "env"/],
    ['a variable twice', { command: 'x', env: [setting('A'), setting('A')] }, /twice/],
    ['a zero byte in a variable', { command: 'x', env: [setting('A', '\0')] }, /value of "A"/],
    ['half a character in two arguments', { command: 'x', args: ['\ud83d', '\ude00'] }, /half a character/],
    ['half a character in a variable', { command: 'x', env: [setting('A', '\ud800')] }, /value of "A"/],
    ['a name that objects lose', { command: 'x', env: [setting('__proto__')] }, /"__proto__" in "env" is reserved/],
    ['many problems', { command: 'x', env: many(5000).map(() => setting('1')) }, /and 4980 more problems\.$/],
    ['no URL', { url: 'x.example' }, /full URL/],
    ['a file', { url: 'file:///etc/passwd' }, /use http or https/],
    ['a password in a URL', { url: 'https://user:pw@x.example' }, /must not hold a user or password/],
    ['an invalid name of a header', { url: 'http://x', headers: [setting('a b')] }, /"a b" in "headers"/],
    ['a header twice, in another case', { url: 'http://x', headers: [setting('A'), setting('a')] }, /twice/],
    ['a header of the transport', { url: 'http://x', headers: [setting('Host')] }, /"Host" in "headers"/],
    ...['Transfer-Encoding', 'CONTENT-LENGTH', 'Connection', 'keep-alive', 'Proxy-Authorization', 'Expect', 'TE'].map(
      (name): readonly [string, LaunchInput, RegExp] => [
        `the header ${name} of the transport`,
        { url: 'http://x', headers: [setting(name)] },
        new RegExp(`"${name}" in "headers" belongs to the connection`),
      ],
    ),
    ['a second line in a header', { url: 'http://x', headers: [setting('a', 'x\r\nb: c')] }, /value of "a"/],
    ['too many arguments', { command: 'x', args: Array(1001).fill('a') }, /"args" is too long/],
    ['too long a command', { command: 'x'.repeat(5000) }, /"command" is too long/],
    ['a long argument', { command: 'x', args: ['a'.repeat(launchMaxBytes)] }, largest],
    ['many arguments', { command: 'x', args: Array(1000).fill('a'.repeat(66)) }, largest],
    ['long variables', { command: 'x', env: many(200, 'v'.repeat(400)) }, largest],
    ['long headers', { url: 'http://x', headers: many(200, 'v'.repeat(400)) }, largest],
    ['characters that are long as JSON', { command: 'x', args: ['\u0001'.repeat(11_000)] }, largest],
    ['too many variables', { command: 'x', env: many(257) }, /"env" holds 257: it may hold 256 at most/],
    ['too many headers', { url: 'http://x', headers: many(257) }, /"headers" holds 257: it may hold 256 at most/],
  ];
  test.each(cases)('%s', (_name, input, message) => {
    expect(() => parseLaunch(input)).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(message) }),
    );
  });

  test('without repeating a value, which may be a secret', () => {
    const wrong = () => parseLaunch({ url: 'http://x', headers: [setting('a', 'hidden\n')] });
    expect(wrong).toThrow(/value of "a"/);
    expect(wrong).not.toThrow(/hidden/);
  });
});
