import { generateKeyPairSync, verify } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { answering } from '../test/answering.ts';
import { freePort } from '../test/free-ports.ts';
import { openBackendClient } from './backend-client.ts';
import { mintOperatorToken } from './operator-token.ts';

const client = (url: string) => openBackendClient([url], () => 'token');
const json =
  (body: unknown): RequestListener =>
  (_request, response) =>
    response.end(JSON.stringify(body));

describe('a question', () => {
  test('goes to /graphql with the token, and its answer is parsed', async () => {
    let seen: unknown;
    const url = await answering(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { authorization } = request.headers;
      seen = [request.method, request.url, authorization, JSON.parse(Buffer.concat(chunks).toString())];
      response.end(JSON.stringify({ data: { n: 1 } }));
    });
    expect(await client(url).query('query ($a: Int) { n }', { a: 1 }, (data) => data)).toEqual({ n: 1 });
    expect(seen).toEqual(['POST', '/graphql', 'Bearer token', { query: 'query ($a: Int) { n }', variables: { a: 1 } }]);
  });

  test('goes to the next of several backends when the first is away, and nowhere else once it was sent', async () => {
    const asked: string[] = [];
    const named = (name: string, end: RequestListener) =>
      answering((...args) => {
        asked.push(name);
        end(...args);
      });
    const gone = `http://127.0.0.1:${await freePort()}`;
    const second = await named('second', json({ data: 2 }));
    const dying = await named('dying', (_request, response) => response.destroy());
    const of = (...urls: readonly string[]) =>
      openBackendClient(urls, () => 'token').query('{ n }', {}, (data) => data);
    expect(await of(gone, second, dying)).toBe(2);
    await expect(of(gone, dying, second)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(of(gone, gone)).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked).toEqual(['second', 'dying']);
  });

  test('a mutation without an answer has an unknown outcome', async () => {
    const dying = await answering((request, response) => request.resume().on('end', () => response.destroy()));
    const silent = await answering(() => undefined);
    const gone = `http://127.0.0.1:${await freePort()}`;
    const outcomeOf = (url: string, document = 'mutation { m }') =>
      client(url)
        .query(document, {}, () => null, { timeoutMs: 200 })
        .catch(({ code, message, hint }) => ({
          code,
          hint,
          isUnknown: / The outcome of the change is unknown\.$/.test(message),
        }));
    const unknown = { isUnknown: true, hint: 'Check the present state before you repeat it.' };
    expect(await outcomeOf(dying)).toEqual({ code: 'unavailable', ...unknown });
    expect(await outcomeOf(silent)).toEqual({ code: 'timeout', ...unknown });
    expect(await outcomeOf(gone)).toMatchObject({ isUnknown: false });
    expect(await outcomeOf(dying, '{ n }')).toMatchObject({ isUnknown: false });
  });

  test("keeps the backend's code, message and hint", async () => {
    const url = await answering(
      json({ data: null, errors: [{ message: 'Taken.', extensions: { code: 'conflict', hint: 'Rename it.' } }] }),
    );
    await expect(client(url).query('{ n }', {}, () => null)).rejects.toMatchObject({
      code: 'conflict',
      message: 'Taken.',
      hint: 'Rename it.',
    });
  });
});

test.each<readonly [what: string, answer: RequestListener, refusal: object]>([
  ['an unknown code', json({ errors: [{ message: 'x', extensions: { code: 'TEAPOT' } }] }), { code: 'internal' }],
  [
    'an answer that is not GraphQL',
    (_request, response) => response.writeHead(502).end('<html>'),
    { code: 'unavailable', message: 'The backend answered 502 with something that is not GraphQL.' },
  ],
  ['silence', () => undefined, { code: 'timeout' }],
  ['an endless answer', (_request, response) => void response.write('{"data":'), { code: 'timeout' }],
])('an invalid answer: %s', async (_, listener, refusal) => {
  const asked = client(await answering(listener)).query('{ n }', {}, () => null, { timeoutMs: 200 });
  await expect(asked).rejects.toMatchObject(refusal);
});

test('a backend that does not listen is not running', async () => {
  await expect(client(`http://127.0.0.1:${await freePort()}`).query('{ n }', {}, () => null)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^The backend is not running: .* connection refused\.$/),
    hint: expect.stringContaining('svc status'),
  });
});

test('an interruption is reported as such', async () => {
  const interrupt = new AbortController();
  const url = await answering(() => interrupt.abort());
  await expect(client(url).query('{ n }', {}, () => null, { signal: interrupt.signal })).rejects.toMatchObject({
    code: 'cancelled',
  });
});

test('an operator token is a short-lived JWT, signed with the key of the installation', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const [head = '', claims = '', signature = ''] = mintOperatorToken({
    privateKey: pem,
    issuer: 'me',
    nowMs: 1_000_500,
  }).split('.');
  const parsed = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
  expect(parsed(head)).toEqual({ alg: 'EdDSA', typ: 'JWT' });
  expect(parsed(claims)).toEqual({
    iss: 'me',
    aud: 'svc-backend',
    sub: 'operator',
    kind: 'operator',
    iat: 1000,
    exp: 1300,
    jti: expect.any(String),
  });
  expect(verify(null, Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
});
