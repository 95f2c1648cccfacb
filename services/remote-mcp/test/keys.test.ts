import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../contracts/keys.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { openSession, ping, type RawAnswer, rpc, send } from './raw.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let workspace: TestWorkspace;
let key: string;

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  key = (await workspace.key('agent')).text;
});
afterAll(() => platform.stop());

const pingWith = (authorization: string | null) => send(platform.mcpUrl, { headers: { authorization }, body: ping });

/** Clients find the sign-in by it. Only a key that was sent can be wrong. */
const challenge =
  /^Bearer (error="invalid_token", )?resource_metadata="http:\/\/localhost:3001\/.well-known\/oauth-protected-resource\/mcp", scope="tools"$/;

function expectRefused(answer: RawAnswer, message: RegExp): void {
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(challenge)]);
  const data = { code: 'unauthenticated', hint: expect.any(String) };
  expect(answer.body).toEqual({
    ...{ jsonrpc: '2.0', id: null },
    error: { code: -31401, message: expect.stringMatching(message), data },
  });
}

test('a ping with a good key is answered, without a session', async () => {
  const answer = await pingWith(`Bearer ${key}`);
  expect([answer.status, answer.text]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":{}}']);
  expect(answer.headers.get('content-type')).toBe('application/json');
});

test('the word Bearer may be written in any case and with more than one space', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer ']) expect((await pingWith(`${scheme} ${key}`)).status).toBe(200);
});

/** Part 5 of the specification, rules 1 to 6, and part 7, rows 1 and 3. */
const refusals: readonly (readonly [what: string, authorization: () => string | null, message: RegExp])[] = [
  ['no Authorization header', () => null, /carries no API key/],
  ['an empty one', () => '', /carries no API key/],
  ['Bearer and nothing else', () => 'Bearer ', /lacks the word Bearer|no API key/],
  ['a key without the word Bearer', () => key, /lacks the word Bearer/],
  ['another scheme', () => `Basic ${key}`, /lacks the word Bearer/],
  ['a workspace key', () => `Bearer WSK_${key.slice(4)}`, /retired/],
  ['an unknown prefix', () => `Bearer ABC_${key.slice(4)}`, /none of the accepted prefixes/],
  ['a wrong checksum', () => `Bearer ${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`, /typo/],
  ['a key cut short', () => `Bearer ${key.slice(0, -1)}`, /length/],
  ['a key followed by other text', () => `Bearer ${key} x`, /length|characters/],
  ['a runtime key', () => `Bearer ${newKey('runtime').reveal()}`, /component of the platform/],
  ['a system key', () => `Bearer ${newKey('system').reveal()}`, /component of the platform/],
  ['a key that nobody created', () => `Bearer ${newKey('user').reveal()}`, /not known/],
  ['an older key that nobody imported', () => `Bearer USK${'x'.repeat(40)}`, /not known/],
];

describe('401', () => {
  test.each(refusals)('%s', async (_what, authorization, message) => {
    expectRefused(await pingWith(authorization()), message);
  });

  test('a revoked key, also when it was just in use', async () => {
    const revoked = await workspace.key('revoked');
    expect((await pingWith(`Bearer ${revoked.text}`)).status).toBe(200);
    await workspace.revoke(revoked.id);
    await until(async () => (await pingWith(`Bearer ${revoked.text}`)).status === 401);
    expectRefused(await pingWith(`Bearer ${revoked.text}`), /was revoked \(\d{4}-/);
  });

  test('a key of a removed workspace, also when it was just in use, and its stream ends', async () => {
    const removed = await TestWorkspace.create(platform, 'removed');
    const { text } = await removed.key('agent');
    const session = await openSession(platform.mcpUrl, text);
    const stream = await openStream(platform.mcpUrl, { key: text, session });
    const { removeWorkspace } = await platform.must('mutation ($id: ID!) { removeWorkspace(id: $id) }', {
      id: removed.id,
    });
    expect(removeWorkspace).toBe(true);
    await until(async () => (await pingWith(`Bearer ${text}`)).status === 401);
    await stream.closed;
    expectRefused(await send(platform.mcpUrl, { key: text, session, body: ping }), /not known|revoked/);
    expect((await pingWith(`Bearer ${key}`)).status).toBe(200);
  });

  test('an expired key, also when it was just in use', async () => {
    const expiresAt = Date.now() + 700;
    const { text } = await workspace.key('short', { expiresAt });
    expect((await pingWith(`Bearer ${text}`)).status).toBe(200);
    await until(() => Date.now() > expiresAt);
    expectRefused(await pingWith(`Bearer ${text}`), /past its expiration date \(\d{4}-/);
  });

  test('precedes every other check: origin, method, headers, body and session', async () => {
    const everything = {
      headers: { origin: 'https://evil.example', accept: 'image/png', 'content-type': 'text/plain' },
    };
    for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'PATCH']) {
      const body = method === 'GET' ? {} : { body: '{' };
      const answer = await send(platform.mcpUrl, { method, session: 'x', ...everything, ...body });
      expect([method, answer.status]).toEqual([method, 401]);
    }
  });
});

test('/health lives whatever Authorization says, and is not a way to test a key', async () => {
  for (const authorization of [null, `Bearer ${newKey('user').reveal()}`, 'nonsense']) {
    const answer = await send(`${platform.url}/health`, { method: 'GET', headers: { authorization } });
    expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }]);
  }
});

test('a refused key is explained in the reason phrase, to requests without a message in the usual body, and by the lack of a sign-in', async () => {
  const refused = await fetch(platform.mcpUrl, { headers: { authorization: 'Bearer SVA_é' } });
  expect([refused.status, refused.statusText]).toEqual([
    401,
    expect.stringMatching(/^Unauthorized: The API key .*\.$/),
  ]);
  const { body } = await send(platform.mcpUrl, { method: 'GET' });
  expect(body.error).toMatchObject({ code: 'unauthenticated', hint: expect.any(String) });
  for (const path of ['/register', '/authorize?x=1', '/token']) {
    const answer = await send(`${platform.url}${path}`, { body: '{}' });
    const message = expect.stringContaining('There is no sign-in here');
    expect([path, answer.status, answer.body.error]).toEqual([
      ...[path, 404],
      { code: 'not_found', message, hint: 'Test the key: svc keys test' },
    ]);
  }
});

describe('403', () => {
  test('a suspended workspace, at once and until it is not suspended any more', async () => {
    const other = await TestWorkspace.create(platform, 'suspended');
    const { text } = await other.key('agent');
    const status = async () => (await pingWith(`Bearer ${text}`)).status;
    expect(await status()).toBe(200);
    // The workspace is in use, so remote-mcp listens for its changes.
    await send(platform.mcpUrl, { key: text, body: rpc('initialize', { protocolVersion: '2025-11-25' }) });
    await other.suspend(true);
    await until(async () => (await status()) === 403);
    const answer = await pingWith(`Bearer ${text}`);
    expect(answer.body.error).toMatchObject({ code: 'forbidden', message: expect.stringMatching(/suspended/) });
    await other.suspend(false);
    await until(async () => (await status()) === 200);
  });
});

describe('while the backend is away', () => {
  test('cached keys work, expired ones get 401, unknown ones 503 with Retry-After', async () => {
    const expiresAt = Date.now() + 1500;
    const short = await workspace.key('expires while away', { expiresAt });
    const unseen = await workspace.key('not seen before');
    expect((await pingWith(`Bearer ${short.text}`)).status).toBe(200);
    expect((await pingWith(`Bearer ${key}`)).status).toBe(200);
    await platform.stopBackend();
    try {
      expect((await pingWith(`Bearer ${key}`)).status).toBe(200);
      for (const text of [unseen.text, newKey('user').reveal()]) {
        const answer = await pingWith(`Bearer ${text}`);
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
        expect(answer.body.error).toMatchObject({
          code: 'unavailable',
          message: expect.stringMatching(/cannot be checked/),
        });
      }
      for (const [, authorization, message] of refusals.slice(0, -2))
        expectRefused(await pingWith(authorization()), message);
      await until(() => Date.now() > expiresAt);
      expectRefused(await pingWith(`Bearer ${short.text}`), /past its expiration date/);
      expect((await send(`${platform.url}/health`, { method: 'GET' })).status).toBe(200);
      await until(
        async () => (await send(`${platform.url}/ready`, { method: 'GET' })).body.status === 'degraded',
        15_000,
      );
    } finally {
      await platform.startBackend();
    }
    expect((await pingWith(`Bearer ${unseen.text}`)).status).toBe(200);
  });
});

test('the log names refused keys of other workspaces, however many keys of one are refused', async () => {
  const refusedKey = async (of: TestWorkspace, name: string) => {
    const { id, text } = await of.key(name);
    expect((await send(platform.mcpUrl, { method: 'PUT', key: text })).status).toBe(405);
    return id;
  };
  const hostile = await TestWorkspace.create(platform, 'hostile');
  const ids: string[] = [];
  for (let i = 0; i < 70; i++) ids.push(await refusedKey(hostile, `key-${i}`));
  const other = await refusedKey(await TestWorkspace.create(platform, 'other'), 'agent');
  const refusals = platform.logged.filter((line) => line.includes('"refused a request"'));
  expect(refusals.filter((line) => ids.some((id) => line.includes(id))).length).toBeLessThanOrEqual(10);
  expect(refusals.filter((line) => line.includes(other))).toHaveLength(1);
});
