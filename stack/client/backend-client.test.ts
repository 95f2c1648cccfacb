import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { jwtVerify } from 'jose';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answering } from '../test/answering.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { freePort } from '../test/free-ports.ts';
import { openBackendClient, type QueryOptions } from './backend-client.ts';
import { operatorTokens } from './operator-token.ts';

const dir = folderOfEachTest();

const ask = (urls: readonly string[], document = '{ n }', options: QueryOptions = {}) =>
  openBackendClient(urls, () => 'token').send({ text: document }, { a: 1 }, options);
const json =
  (body: unknown): RequestListener =>
  (_request, response) =>
    response.end(JSON.stringify(body));
const absent = async () => `http://127.0.0.1:${await freePort()}`;

test('a question goes to /graphql with the token, and its answer is parsed', async () => {
  let seen: unknown;
  const url = await answering(async (request, response) => {
    seen = [request.method, request.url, request.headers.authorization, await readJson(request)];
    response.end(JSON.stringify({ data: { n: 1 } }));
  });
  expect(await ask([url])).toEqual({ n: 1 });
  expect(seen).toEqual(['POST', '/graphql', 'Bearer token', { query: '{ n }', variables: { a: 1 } }]);
});

test('a question goes to the next of several backends when the first is away, and nowhere else once it was sent', async () => {
  const receivers: string[] = [];
  const named = (name: string, end: RequestListener) =>
    answering((...args) => {
      receivers.push(name);
      end(...args);
    });
  const gone = await absent();
  const second = await named('second', json({ data: { n: 2 } }));
  const dying = await named('dying', (_request, response) => response.destroy());
  expect(await ask([gone, second, dying])).toEqual({ n: 2 });
  await expect(ask([gone, dying, second])).rejects.toMatchObject({ code: 'unavailable' });
  await expect(ask([gone, gone])).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^The backend is not running: .* connection refused\.$/),
    hint: expect.stringContaining('svc status'),
  });
  expect(receivers).toEqual(['second', 'dying']);
});

test('a mutation without an answer has an unknown outcome', async () => {
  const dying = await answering((request, response) => request.resume().on('end', () => response.destroy()));
  const silent = await answering(() => undefined);
  const outcomeOf = (url: string, document = 'mutation { m }') =>
    ask([url], document, { timeoutMs: 200 }).catch(({ code, message, hint }) => ({
      code,
      hint,
      isUnknown: / The outcome of the change is unknown\.$/.test(message),
    }));
  const unknown = { isUnknown: true, hint: 'Check the present state before you repeat it.' };
  expect(await outcomeOf(dying)).toEqual({ code: 'unavailable', ...unknown });
  expect(await outcomeOf(silent)).toEqual({ code: 'timeout', ...unknown });
  expect(await outcomeOf(await absent())).toMatchObject({ isUnknown: false });
  expect(await outcomeOf(dying, '{ n }')).toMatchObject({ isUnknown: false });
});

const taken = { code: 'conflict', message: 'Taken.', hint: 'Rename it.' };
test.each<readonly [what: string, answer: RequestListener, refusal: object]>([
  [
    "the backend's code, message and hint",
    json({ data: null, errors: [{ message: taken.message, extensions: { code: taken.code, hint: taken.hint } }] }),
    taken,
  ],
  ['an unknown code', json({ errors: [{ message: 'x', extensions: { code: 'TEAPOT' } }] }), { code: 'internal' }],
  [
    'an answer that is not GraphQL',
    (_request, response) => response.writeHead(502).end('<html>'),
    { code: 'unavailable', message: 'The backend answered 502 with something that is not GraphQL.' },
  ],
  ['silence', () => undefined, { code: 'timeout' }],
  ['an endless answer', (_request, response) => void response.write('{"data":'), { code: 'timeout' }],
])('an error is made of %s', async (_, listener, refusal) => {
  await expect(ask([await answering(listener)], '{ n }', { timeoutMs: 200 })).rejects.toMatchObject(refusal);
});

test('an interruption is reported as such', async () => {
  const interrupt = new AbortController();
  const url = await answering(() => interrupt.abort());
  await expect(ask([url], '{ n }', { signal: interrupt.signal })).rejects.toMatchObject({ code: 'cancelled' });
});

test('an operator token is a JWT, signed with the key of the installation, and renewed before it expires', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_500 });
  onTestFinished(() => void vi.useRealTimers());
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(dir(), 'jwt-private.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const tokens = operatorTokens({ secretsDir: dir() }, 'me');
  const first = tokens();
  const { protectedHeader, payload } = await jwtVerify(first, publicKey);
  expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'JWT' });
  expect(payload).toEqual({
    ...{ iss: 'me', aud: 'svc-backend', sub: 'operator', kind: 'operator' },
    ...{ iat: 1000, exp: 1300, jti: expect.any(String) },
  });
  vi.setSystemTime(1_150_499);
  expect(tokens()).toBe(first);
  vi.setSystemTime(1_150_500);
  expect(tokens()).not.toBe(first);
});
