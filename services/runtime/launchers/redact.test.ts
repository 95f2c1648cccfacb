import { expect, test } from 'vitest';
import { createRedact, seeAuthorization } from './redact.ts';

const child = (env: Record<string, string>) => createRedact({ kind: 'child', command: 'x', args: [], cwd: null, env });

test('values of the environment are redacted, plain and encoded', () => {
  const secret = 'p4ss/w"ord';
  const redact = child({ TOKEN: secret, DEBUG: '1' });
  const seen = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), btoa(secret)];
  expect(redact(`a ${seen.join(' b ')} c 1`)).toBe('a [secret] b [secret] b [secret] b [secret] c 1');
});

test('hex, and base64 with any offset', () => {
  const secret = 'p4ss?w>ord';
  const redact = child({ TOKEN: secret });
  const hex = Buffer.from(secret).toString('hex');
  expect(redact(`${hex} ${hex.toUpperCase()}`)).toBe('[secret] [secret]');
  for (const encoding of ['base64', 'base64url'] as const) {
    for (const around of ['u:', 'me:', 'you:']) {
      const [before, after] = [Buffer.from(around), Buffer.from('@host')];
      const text = Buffer.concat([before, Buffer.from(secret), after]).toString(encoding);
      const left = redact(text);
      expect(left).toMatch(/^\w{2,6}\[secret\]\w{6,10}=*$/);
      expect(Buffer.from(left.replace('[secret]', ''), encoding).toString('latin1')).not.toMatch(/4ss|w>o/);
    }
  }
});

test('each line of a key, and the longer of two values that contain each other', () => {
  const redact = child({ KEY: '-----BEGIN-----\nabcdefgh\nijklmnop', SHORT: 'abcd' });
  expect(redact('ijklmnop abcdefgh abcd')).toBe('[secret] [secret] [secret]');
});

test('the credential of an Authorization header and those of a URL', () => {
  const headers = { Authorization: 'Bearer t0k3n-t0k3n' };
  const redact = createRedact({ kind: 'http', url: 'https://user:passw0rd@host.example/mcp?key=k3yk3y', headers });
  expect(redact('t0k3n-t0k3n passw0rd k3yk3y host.example')).toBe('[secret] [secret] [secret] host.example');
});

test('the tokens that were given last, and none before the first is given', () => {
  let present: string | undefined;
  const launch = { kind: 'http', url: 'https://host.example', headers: {} } as const;
  const { authorization, redact } = seeAuthorization({ launch, authorization: () => present });
  expect([authorization(), redact('Bearer t0k3n-1')]).toEqual([undefined, 'Bearer t0k3n-1']);
  for (present of ['Bearer t0k3n-1', 'Bearer t0k3n-2']) expect(authorization()).toBe(present);
  expect(redact('t0k3n-1 t0k3n-2 t0k3n-3')).toBe('[secret] [secret] t0k3n-3');
  for (let i = 3; i < 9; i++) [present] = [`Bearer t0k3n-${i}`, authorization()];
  authorization();
  expect(redact('t0k3n-1 t0k3n-7 t0k3n-8')).toBe('t0k3n-1 [secret] [secret]');
});
