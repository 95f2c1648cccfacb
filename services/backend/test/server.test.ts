import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
beforeAll(async () => {
  backend = await startTestBackend({ CORS_ORIGINS: 'https://app.example.com' });
});
afterAll(() => backend.stop());

describe('health', () => {
  test('is alive, whatever the Authorization header says', async () => {
    const response = await fetch(`${backend.url}/health`, { headers: { authorization: 'Bearer nonsense' } });
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  test('is ready, and reports each check', async () => {
    const response = await fetch(`${backend.url}/ready`);
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: 'ready', checks: { graph: 'ok', bus: 'ok' } },
    ]);
  });

  test('is not ready once the bus has stopped', async () => {
    const other = await startTestBackend();
    await other.hub.stop();
    const response = await fetch(`${other.url}/ready`);
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'not ready', checks: { graph: 'ok', bus: 'not connected' } },
    ]);
    expect((await fetch(`${other.url}/health`)).status).toBe(200);
    await other.stop();
  });
});

test('publishes the keys that verify tokens', async () => {
  const response = await fetch(`${backend.url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: object[] };
  expect(keys).toMatchObject([{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }]);
  expect(keys[0]).not.toHaveProperty('d');
});

describe('tokens', () => {
  const query = '{ viewer { kind id name } }';

  test('an operator', async () => {
    const answer = await backend.ask({ query, token: await backend.operatorToken() });
    expect(answer).toMatchObject({ status: 200, data: { viewer: { kind: 'operator', id: 'operator', name: 'root' } } });
  });

  test('a missing, wrong or expired one: 401 with WWW-Authenticate', async () => {
    const expired = await backend.operatorToken({ exp: Math.floor(Date.now() / 1000) - 1 });
    for (const token of [undefined, 'nonsense', expired]) {
      const answer = await backend.ask({ query, token });
      expect([answer.status, answer.code, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'unauthenticated',
        'Bearer',
      ]);
    }
  });

  test('a token without the word Bearer, or an API key, is not a token', async () => {
    const token = await backend.operatorToken();
    for (const authorization of [token, `Basic ${token}`, `Bearer SVA_${'0'.repeat(49)}`]) {
      const answer = await backend.ask({ query, headers: { authorization } });
      expect(answer.status).toBe(401);
    }
  });

  test('introspection requires authentication', async () => {
    const query = '{ __schema { queryType { name } } }';
    expect((await backend.ask({ query })).status).toBe(401);
    const known = await backend.ask({ query, token: await backend.operatorToken() });
    expect(known.data).toEqual({ __schema: { queryType: { name: 'Query' } } });
  });
});

describe('requests', () => {
  test("keep the caller's id, and get one otherwise", async () => {
    const token = await backend.operatorToken();
    const given = await backend.ask({ query: '{ nothing }', token, headers: { 'x-request-id': 'request-12345' } });
    expect(given.headers.get('x-request-id')).toBe('request-12345');
    expect(given.errors[0]?.extensions.request).toBe('request-12345');
    const made = await backend.ask({ query: '{ viewer { id } }', token, headers: { 'x-request-id': 'bad id' } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9A-Za-z]{16}$/);
  });

  test('larger than 4 MiB are refused', async () => {
    const token = await backend.operatorToken();
    const big = await backend.ask({ query: `# ${'x'.repeat(4 * 1024 * 1024)}\n{ viewer { id } }`, token });
    expect([big.status, big.code]).toEqual([413, 'too_large']);
    const fits = await backend.ask({ query: `# ${'x'.repeat(4 * 1024 * 1024 - 100)}\n{ viewer { id } }`, token });
    expect(fits.status).toBe(200);
  });

  test('that are not GraphQL over JSON are refused, with a code', async () => {
    const authorization = `Bearer ${await backend.operatorToken()}`;
    const post = async (type: string, body: string) => {
      const response = await fetch(`${backend.url}/graphql`, {
        method: 'POST',
        headers: { authorization, 'content-type': type },
        body,
      });
      const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
      return [response.status, errors[0]?.extensions.code];
    };
    expect(await post('text/plain', '{}')).toEqual([415, 'unsupported']);
    expect(await post('application/json', '{')).toEqual([400, 'invalid_input']);
    expect(await post('application/json', '')).toEqual([400, 'invalid_input']);
    expect(await post('application/json', '{}')).toEqual([400, 'invalid_input']);
    expect(await post('application/json', '[]')).toEqual([400, 'invalid_input']);
    expect(await post('application/json', '{"query":"{"}')).toEqual([400, 'invalid_input']);
  });

  test('to an unknown path say so', async () => {
    const response = await fetch(`${backend.url}/nowhere?x=1`);
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: { code: 'not_found', message: 'The backend has no GET "/nowhere".' } },
    ]);
    expect((await fetch(`${backend.url}/graphql`)).status).toBe(404);
  });
});

describe('origins', () => {
  const preflight = (origin: string, path = '/graphql') =>
    fetch(`${backend.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      },
    });

  test('one that is listed may call', async () => {
    const response = await preflight('https://app.example.com');
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
    expect(response.headers.get('access-control-allow-headers')).toMatch(/authorization.*content-type/);
    expect(response.headers.get('vary')).toContain('Origin');
  });

  test('any other may not', async () => {
    for (const origin of ['https://evil.example.com', 'https://app.example.com.evil.com', 'null']) {
      const response = await preflight(origin);
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    }
  });

  test('a request from another origin is refused, after its token', async () => {
    const headers = { origin: 'https://evil.example.com' };
    const query = '{ viewer { id } }';
    const stranger = await backend.ask({ query, headers });
    expect(stranger.status).toBe(401);
    const known = await backend.ask({ query, headers, token: await backend.operatorToken() });
    expect([known.status, known.code, known.headers.get('access-control-allow-origin')]).toEqual([
      403,
      'forbidden',
      null,
    ]);
  });

  test('a listed page can read a refusal too', async () => {
    const answer = await backend.ask({ query: '{ viewer { id } }', headers: { origin: 'https://app.example.com' } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'https://app.example.com',
    ]);
  });
});
