import { generateKeyPairSync } from 'node:crypto';
import {
  auth,
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Browser } from '../../backend/test/browser.ts';
import { newId, parseId } from '../../contracts/ids.ts';
import { OauthClient, redirectUri, register, rememberingProvider, signIn, startPublicPlatform } from './oauth.ts';
import { type Platform, until } from './platform.ts';
import { result, tool } from './runtime.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let workspace: TestWorkspace;
let person: Browser;
let role: string;
let client: OauthClient;

beforeAll(async () => {
  platform = await startPublicPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('echo'), tool('look', { annotations: { readOnlyHint: true } })]);
  role = await workspace.role('All', [await workspace.skill('all', ['files/echo', 'files/look'])]);
  platform.runtime.answer(async ({ params }) => result({ content: [{ type: 'text', text: params.arguments.text }] }));
  person = await signIn(platform, 'acme@example.com');
  client = await OauthClient.register(platform.backendUrl);
});
afterAll(() => platform.stop());

function ping(token: string | null) {
  return fetch(platform.mcpUrl, {
    method: 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
}

test('a client of MCP finds the way by itself, and calls a tool after the consent', async () => {
  const { saved, authProvider } = rememberingProvider();
  const open = () => new StreamableHTTPClientTransport(new URL(platform.mcpUrl), { authProvider });
  const agent = new Client({ name: 'test', version: '1' });
  const first = open();
  await expect(agent.connect(first)).rejects.toThrow(UnauthorizedError);

  const { pathname, search } = saved.to ?? new URL('http://none');
  const asked = await person.get(pathname + search);
  const uid = new URL(asked.headers.get('location') ?? '').pathname.split('/').at(-1) ?? '';
  expect((await person.post(`/connect/interaction/${uid}`, {})).body).toMatchObject({
    client: { name: 'SDK', redirectHost: '127.0.0.1:7777', isLocal: true },
    scopes: ['tools', 'tools:read'],
    workspaces: [{ id: workspace.id, name: 'acme' }],
  });
  const offered = await person.post(`/connect/interaction/${uid}/roles`, { workspace: workspace.id });
  expect(offered.body).toEqual({ roles: [{ id: role, name: 'All', description: '' }], hasMore: false });
  const { back } = await new OauthClient(platform.backendUrl, '').consent(person, uid, { workspace: workspace.id });
  expect(back.searchParams.get('iss')).toBe(platform.backendUrl);
  // RFC 9207 §2.4: the answer of another authorization server is mixed up with this one.
  const mixedUp = new URLSearchParams(back.searchParams);
  mixedUp.set('iss', 'https://other.example');
  await expect(first.finishAuth(mixedUp)).rejects.toThrow('Issuer mismatch');
  await first.finishAuth(back.searchParams);

  const signedIn = new Client({ name: 'test', version: '1' });
  await signedIn.connect(open());
  const answer = await signedIn.callTool({ name: 'call_tool', arguments: { name: 'echo', arguments: { text: 'hi' } } });
  expect(answer.content).toEqual([{ type: 'text', text: 'hi' }]);
  await signedIn.close();
  expect(await auth(authProvider, { serverUrl: platform.mcpUrl })).toBe('AUTHORIZED');
});

describe('scopes', () => {
  test('a client steps up: the person lets it read first, and use every tool later', async () => {
    const { saved, authProvider } = rememberingProvider();
    const answered = async (transport: StreamableHTTPClientTransport, scope: string) => {
      const { pathname, search } = saved.to ?? new URL('http://none');
      const asked = await person.get(pathname + search);
      const uid = new URL(asked.headers.get('location') ?? '').pathname.split('/').at(-1) ?? '';
      const { back } = await client.consent(person, uid, { workspace: workspace.id, scope });
      await transport.finishAuth(back.searchParams);
    };
    const open = () => new StreamableHTTPClientTransport(new URL(platform.mcpUrl), { authProvider });
    const first = open();
    await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
    await answered(first, 'tools:read');
    expect(saved.tokens?.scope).toBe('tools:read');

    const reader = new Client({ name: 'test', version: '1' });
    const reading = open();
    await reader.connect(reading);
    expect((await reader.callTool({ name: 'look', arguments: { text: 'seen' } })).content).toEqual([
      { type: 'text', text: 'seen' },
    ]);
    await expect(reader.callTool({ name: 'echo', arguments: { text: 'hi' } })).rejects.toThrow(UnauthorizedError);
    expect(saved.to?.searchParams.get('scope')).toBe('tools:read tools');
    await answered(reading, 'tools');
    await reader.close();

    const writer = new Client({ name: 'test', version: '1' });
    await writer.connect(open());
    expect((await writer.callTool({ name: 'echo', arguments: { text: 'hi' } })).content).toEqual([
      { type: 'text', text: 'hi' },
    ]);
    await writer.close();
  });

  test.each([
    ['by its name', { name: 'echo', arguments: {} }],
    ['by call_tool', { name: 'call_tool', arguments: { name: 'echo', arguments: {} } }],
  ])(
    'a call beyond the scope, %s, answers 403 with the missing scope, and reaches no runtime',
    async (_way, params) => {
      const { uid } = await client.authorize(person, { scope: 'tools:read' });
      const { code } = await client.consent(person, uid, { workspace: workspace.id, scope: 'tools:read' });
      const { body } = await client.exchange(code);
      // A refresh keeps the scope, whatever the client asks for.
      const { body: refreshed } = await client.refresh(body.refresh_token, { scope: 'tools' });
      expect(decodeJwt(refreshed.access_token).scope).toBe('tools:read');
      const headers = {
        authorization: `Bearer ${refreshed.access_token}`,
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      };
      const send = (method: string, given: object, more: Record<string, string> = {}) =>
        fetch(platform.mcpUrl, {
          method: 'POST',
          headers: { ...headers, ...more },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: given }),
        });
      const clientInfo = { name: 'test', version: '1' };
      const opened = await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
      const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
      const before = platform.runtime.calls.length;
      const refused = await send('tools/call', params, session);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        403,
        `Bearer error="insufficient_scope", resource_metadata="${platform.url}/.well-known/oauth-protected-resource/mcp", scope="tools"`,
      ]);
      expect(platform.runtime.calls.length).toBe(before);
      const looked = await send('tools/call', { name: 'look', arguments: { text: 'seen' } }, session);
      expect(looked.status).toBe(200);
    },
  );

  test('the person cannot give more than the agent asked for', async () => {
    const { uid } = await client.authorize(person, { scope: 'tools:read' });
    expect((await person.post(`/connect/interaction/${uid}`, {})).body.scopes).toEqual(['tools:read']);
    expect((await client.consent(person, uid, { workspace: workspace.id, scope: 'tools' })).status).toBe(400);
    expect((await client.consent(person, uid, { workspace: workspace.id, scope: 'tools:read' })).code).not.toBe('');
  });

  test('a token without a scope of ours is refused', async () => {
    const { access_token: good } = await client.connect(person, workspace.id);
    for (const scope of [undefined, '', 'openid', 'tools tools:read']) {
      expect((await ping(await platform.sign({ ...decodeJwt(good), scope }, 'at+jwt'))).status).toBe(401);
    }
  });
});

describe('discovery', () => {
  test('a 401 names the metadata by an absolute address, and the scope', async () => {
    const { status, headers } = await ping(null);
    const metadata = `${platform.url}/.well-known/oauth-protected-resource/mcp`;
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer resource_metadata="${metadata}", scope="tools"`,
    ]);
    expect((await ping('eyJhbGciOiJFZERTQSJ9.e30.xx')).headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${metadata}", scope="tools"`,
    );
  });

  test.each(['/mcp', ''])(
    'the metadata of the resource are at the path "%s", for pages of any origin',
    async (path) => {
      const answer = await fetch(`${platform.url}/.well-known/oauth-protected-resource${path}`);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(await answer.json()).toEqual({
        resource: platform.mcpUrl,
        authorization_servers: [platform.backendUrl],
        scopes_supported: ['tools', 'tools:read'],
        bearer_methods_supported: ['header'],
      });
    },
  );

  test.each(['oauth-authorization-server', 'openid-configuration'])('%s says what clients need', async (name) => {
    const answer = await fetch(`${platform.backendUrl}/.well-known/${name}`, {
      headers: { origin: 'https://a.example' },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://a.example');
    expect(await answer.json()).toMatchObject({
      issuer: platform.backendUrl,
      authorization_endpoint: `${platform.backendUrl}/connect/authorize`,
      token_endpoint: `${platform.backendUrl}/connect/token`,
      registration_endpoint: `${platform.backendUrl}/connect/register`,
      revocation_endpoint: `${platform.backendUrl}/connect/revoke`,
      jwks_uri: `${platform.backendUrl}/.well-known/jwks.json`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      grant_types_supported: expect.arrayContaining(['authorization_code', 'refresh_token', 'client_credentials']),
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    });
  });

  test('names no address that does not answer, and no proof that is not checked', async () => {
    const metadata = await (await fetch(`${platform.backendUrl}/.well-known/oauth-authorization-server`)).json();
    const named = Object.entries<string>(metadata).filter(([name]) => /_(endpoint|uri)$/.test(name));
    expect(named.map(([name]) => name).sort()).toEqual([
      ...['authorization_endpoint', 'introspection_endpoint', 'jwks_uri', 'registration_endpoint'],
      ...['revocation_endpoint', 'token_endpoint'],
    ]);
    for (const [name, url] of named) {
      const method = name.startsWith('authorization') || name === 'jwks_uri' ? 'GET' : 'POST';
      expect((await fetch(url, { method, redirect: 'manual' })).status, name).not.toBe(404);
    }
    expect(metadata.dpop_signing_alg_values_supported).toBeUndefined();
  });
});

describe('access tokens', () => {
  test('are for remote-mcp alone, and signed with the published key', async () => {
    const { access_token: token } = await client.connect(person, workspace.id);
    const { keys } = await (await fetch(`${platform.backendUrl}/.well-known/jwks.json`)).json();
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: keys[0].kid });
    expect(decodeJwt(token)).toMatchObject({ iss: 'service-platform', aud: platform.mcpUrl, scope: 'tools' });
    expect((await ping(token)).status).toBe(200);
  });

  test.each([
    ['no resource', undefined],
    ['a trailing slash', (url: string) => `${url}/`],
    ['a query', (url: string) => `${url}?roleIds=x`],
    ['the origin only', (url: string) => new URL(url).origin],
  ])('always name the same resource: %s', async (_name, write) => {
    const resource = write?.(platform.mcpUrl);
    const { uid } = await client.authorize(person, { resource });
    const { code } = await client.consent(person, uid, { workspace: workspace.id });
    const { body } = await client.exchange(code, { resource });
    expect(decodeJwt(body.access_token).aud).toBe(platform.mcpUrl);
    const { body: refreshed } = await client.refresh(body.refresh_token, { resource });
    expect(decodeJwt(refreshed.access_token).aud).toBe(platform.mcpUrl);
  });

  test('another resource is refused', async () => {
    const resource = 'https://other.example/mcp';
    const { location } = await client.authorize(person, { resource });
    expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_target');
    const { uid } = await client.authorize(person);
    const { code } = await client.consent(person, uid, { workspace: workspace.id });
    expect((await client.exchange(code, { resource })).body.error).toBe('invalid_target');
    const { refresh_token: token } = await client.connect(person, workspace.id);
    expect((await client.refresh(token, { resource })).body.error).toBe('invalid_target');
  });
});

describe('refresh tokens', () => {
  test('three concurrent refreshes work, and their tokens too', async () => {
    const { refresh_token: token } = await client.connect(person, workspace.id);
    const answers = await Promise.all([client.refresh(token), client.refresh(token), client.refresh(token)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of answers) expect((await client.refresh(body.refresh_token)).status).toBe(200);
  });

  test('the reuse of one after its grace ends the agent', async () => {
    const { access_token: access, refresh_token: first } = await client.connect(person, workspace.id);
    const { body: second } = await client.refresh(first);
    expect((await client.refresh(first)).status).toBe(200);
    expect((await ping(access)).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    try {
      expect((await client.refresh(first)).body.error).toBe('invalid_grant');
      expect((await client.refresh(second.refresh_token)).body.error).toBe('invalid_grant');
      await until(async () => (await ping(access)).status === 401);
    } finally {
      vi.useRealTimers();
    }
  });

  test('of an agent live as JWT_ACCESS_TOKEN_TTL and JWT_REFRESH_TOKEN_TTL say', async () => {
    const short = await startPublicPlatform({ JWT_ACCESS_TOKEN_TTL: '60', JWT_REFRESH_TOKEN_TTL: '120' });
    try {
      const own = await TestWorkspace.create(short, 'short');
      const agent = await OauthClient.register(short.backendUrl);
      const tokens = await agent.connect(await signIn(short, 'short@example.com'), own.id);
      const statusOf = async (token: string) =>
        (await fetch(short.mcpUrl, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })).status;
      const began = Date.now();
      const advanceTo = (seconds: number) => vi.useFakeTimers({ toFake: ['Date'], now: began + seconds * 1000 });
      expect(await statusOf(tokens.access_token)).not.toBe(401);
      advanceTo(55);
      expect(await statusOf(tokens.access_token)).not.toBe(401);
      advanceTo(65);
      expect(await statusOf(tokens.access_token)).toBe(401);
      const { body: renewed } = await agent.refresh(tokens.refresh_token);
      expect(await statusOf(renewed.access_token)).not.toBe(401);
      advanceTo(190);
      const { status, body } = await agent.refresh(renewed.refresh_token);
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
      expect(await statusOf(renewed.access_token)).toBe(401);
    } finally {
      vi.useRealTimers();
      await short.stop();
    }
  });

  test('revocation ends the agent', async () => {
    const { access_token: access, refresh_token: refresh } = await client.connect(person, workspace.id);
    expect((await ping(access)).status).toBe(200);
    expect((await client.post('revoke', { token: refresh })).status).toBe(200);
    await until(async () => (await ping(access)).status === 401);
    const query = 'query ($id: ID!) { workspace(id: $id) { activity(first: 50) { nodes { action subject actor } } } }';
    const { workspace: seen } = await platform.must(query, { id: workspace.id });
    const { key, sub } = decodeJwt(access);
    expect(seen.activity.nodes).toContainEqual({ action: 'revoke', subject: key, actor: sub });
    expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
  });

  test('revocation of an access token ends the agent too, and only for its own client', async () => {
    const { access_token: access, refresh_token: refresh } = await client.connect(person, workspace.id);
    const other = await OauthClient.register(platform.backendUrl);
    expect((await other.post('revoke', { token: access })).status).toBe(200);
    expect((await ping(access)).status).toBe(200);
    expect((await client.post('revoke', { token: access, token_type_hint: 'access_token' })).status).toBe(200);
    await until(async () => (await ping(access)).status === 401);
    expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
    expect((await client.post('revoke', { token: access })).status).toBe(200);
  });
});

describe('refusals', () => {
  test('a code is used once: its second use ends the agent', async () => {
    const { uid } = await client.authorize(person);
    const { code } = await client.consent(person, uid, { workspace: workspace.id });
    const { body } = await client.exchange(code);
    expect((await ping(body.access_token)).status).toBe(200);
    expect((await client.exchange(code)).body.error).toBe('invalid_grant');
    await until(async () => (await ping(body.access_token)).status === 401);
    expect((await client.refresh(body.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('of two concurrent uses of a code, at most one gets tokens', async () => {
    const { uid } = await client.authorize(person);
    const { code } = await client.consent(person, uid, { workspace: workspace.id });
    const answers = await Promise.all([client.exchange(code), client.exchange(code)]);
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  test('PKCE is required, by S256 alone', async () => {
    const refused = [
      { code_challenge: undefined, code_challenge_method: undefined },
      { code_challenge_method: 'plain' },
    ];
    for (const more of refused) {
      const { location } = await client.authorize(person, more);
      expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_request');
    }
    const { uid } = await client.authorize(person);
    const { code } = await client.consent(person, uid, { workspace: workspace.id });
    const answer = await client.exchange(code, { code_verifier: 'x'.repeat(43) });
    expect(answer.body.error).toBe('invalid_grant');
  });

  test.each([
    ['an unknown client', 'nobody', 'This platform does not know the agent'],
    ['no client', undefined, 'missing required parameter'],
    ['a document that cannot be fetched', 'https://127.0.0.1/client.json', 'This platform does not know the agent'],
  ])('%s gets a page of ours, and is sent nowhere', async (_who, id, words) => {
    const { status, location, text, headers } = await client.authorize(person, { client_id: id });
    expect([status, location]).toEqual([400, null]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text).toContain(words);
    expect(text).not.toMatch(/127\.0\.0\.1|href|http-equiv/);
  });

  test('a flood of sign-ins is stopped, with a page', async () => {
    const flooded = await startPublicPlatform();
    const url = `${flooded.backendUrl}/connect/authorize?client_id=x`;
    for (let i = 0; i < 120; i++) expect((await fetch(url)).status).toBe(400);
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('Too many sign-ins of agents from this address');
    await flooded.stop();
  });

  test.each([
    ['x://claude.ai/callback', 'x://claude.ai', true],
    ['cursor://anysphere.cursor-retrieval/callback', 'cursor://anysphere.cursor-retrieval', true],
    ['https://claude.ai/callback', 'claude.ai', false],
    ['http://localhost:1234/callback', 'localhost:1234', true],
  ])('the person sees where %s leads', async (redirect, shown, isLocal) => {
    const other = await OauthClient.register(platform.backendUrl, { redirect_uris: [redirect] });
    const { uid } = await other.authorize(person, { redirect_uri: redirect });
    const { body } = await person.post(`/connect/interaction/${uid}`, {});
    expect(body.client).toEqual({ name: 'Test agent', redirectHost: shown, isLocal });
  });

  test('a workspace with more roles than an agent may be limited to says so', async () => {
    const made = 'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id } }';
    const input = { name: 'Many roles', ownerEmail: 'roles@example.com' };
    const { createWorkspace } = await platform.must(made, { input });
    const names = Array.from(
      { length: 101 },
      (_, i) => `r${i}: createRole(workspace: $w, input: { name: "R ${i}" }) { id }`,
    );
    for (let i = 0; i < names.length; i += 10) {
      await platform.must(`mutation ($w: ID!) { ${names.slice(i, i + 10).join(' ')} }`, { w: createWorkspace.id });
    }
    const browser = await signIn(platform, 'roles@example.com');
    const { uid } = await client.authorize(browser);
    const { body } = await browser.post(`/connect/interaction/${uid}/roles`, { workspace: createWorkspace.id });
    expect([body.roles.length, body.hasMore]).toEqual([100, true]);
  });

  test('the answer to the page is small, however many workspaces and roles there are', async () => {
    const name = 'w'.repeat(40);
    const many = Array.from({ length: 20 }, (_, i) => `${name}${i}`);
    const ownerEmail = 'many@example.com';
    const mutation = 'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id } }';
    const ids: string[] = [];
    for (const one of many) {
      ids.push((await platform.must(mutation, { input: { name: one, ownerEmail } })).createWorkspace.id);
    }
    const add =
      'mutation ($workspace: ID!, $input: RoleInput!) { createRole(workspace: $workspace, input: $input) { id } }';
    for (let i = 0; i < 30; i++) {
      const input = { name: `Role ${i}`, description: 'd'.repeat(1000), skills: [] };
      await platform.must(add, { workspace: ids[0], input });
    }
    const browser = await signIn(platform, ownerEmail);
    const { uid } = await client.authorize(browser);
    const { body, text } = await browser.post(`/connect/interaction/${uid}`, {});
    expect([body.workspaces.length, text.length < 20 * 200]).toEqual([20, true]);
    const roles = await browser.post(`/connect/interaction/${uid}/roles`, { workspace: ids[0] });
    expect([roles.body.roles.length, roles.text.length < 30 * 400]).toEqual([30, true]);
    expect(roles.body.hasMore).toBe(false);
    // Roles of other workspaces are as unknown as the workspaces.
    expect((await browser.post(`/connect/interaction/${uid}/roles`, { workspace: workspace.id })).status).toBe(404);
    expect((await person.post(`/connect/interaction/${uid}/roles`, { workspace: workspace.id })).status).toBe(404);
  });

  test.each(['https://evil.example/', 'http://127.0.0.1.evil.example/callback', 'http://127.0.0.1:7777/other'])(
    'nobody is sent to the unregistered address %s',
    async (redirect) => {
      const { status, location } = await client.authorize(person, { redirect_uri: redirect });
      expect([status, location]).toEqual([400, null]);
    },
  );

  test.each(['http://127.0.0.1', 'http://[::1]', 'http://localhost'])('%s may have any port', async (origin) => {
    const local = await OauthClient.register(platform.backendUrl, { redirect_uris: [`${origin}/callback`] });
    const { status } = await local.authorize(person, { redirect_uri: `${origin}:49152/callback` });
    expect(status).toBe(303);
  });

  test('an interaction belongs to the browser that began it', async () => {
    const { uid } = await client.authorize(person);
    const other = await signIn(platform, 'acme@example.com');
    expect((await other.post(`/connect/interaction/${uid}`, {})).status).toBe(404);
    const answer = await client.consent(other, uid, { workspace: workspace.id });
    expect(answer.status).toBe(404);
  });

  test('without a session, or from a foreign page, nothing is told', async () => {
    const { uid } = await client.authorize(person);
    const path = `/connect/interaction/${uid}`;
    const signedOut = person.copy();
    signedOut.cookies.delete(signedOut.nameOf('access'));
    expect((await signedOut.post(path, {})).status).toBe(401);
    expect((await person.post(path, {}, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await person.post(path, {}, { origin: '' })).status).toBe(403);
  });

  test('a person connects agents to their own workspaces and roles only', async () => {
    const other = await TestWorkspace.create(platform, `other-${Date.now()}`);
    const foreignRole = await other.role('Other', []);
    const { uid } = await client.authorize(person);
    expect((await client.consent(person, uid, { workspace: other.id })).status).toBe(404);
    const roles = await client.consent(person, uid, { workspace: workspace.id, roles: [foreignRole] });
    expect(roles.status).toBe(404);
    // The request is still open.
    expect((await client.consent(person, uid, { workspace: workspace.id, roles: [role] })).code).not.toBe('');
  });

  test('a refusal of the person goes back to the client', async () => {
    const { uid } = await client.authorize(person);
    const { body } = await person.post(`/connect/interaction/${uid}/refuse`, {});
    const { headers } = await person.get(new URL(body.redirect).pathname);
    const { searchParams } = new URL(headers.get('location') ?? '');
    expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'access_denied', iss: platform.backendUrl });
  });

  test('a revoked agent is cut off', async () => {
    const { access_token: access, refresh_token: refresh } = await client.connect(person, workspace.id);
    expect((await ping(access)).status).toBe(200);
    await workspace.revoke(decodeJwt(access).key as never);
    await until(async () => (await ping(access)).status === 401);
    expect((await client.refresh(refresh)).body.error).toBe('invalid_grant');
    // Nothing of it is left: its token is as unknown as one that never was.
    expect((await client.refresh(refresh)).body).toEqual((await client.refresh('x'.repeat(43))).body);
  });

  test('an agent is told apart from keys with a text, and is not rotated', async () => {
    const { access_token: access } = await client.connect(person, workspace.id);
    const id = String(decodeJwt(access).key);
    const query = 'query ($id: ID!) { workspace(id: $id) { keys(first: 100) { nodes { id client } } } }';
    const { workspace: seen } = await platform.must(query, { id: workspace.id });
    expect(seen.keys.nodes).toContainEqual({ id, client: client.id });
    const rotate = 'mutation ($w: ID!, $id: ID!) { rotateKey(workspace: $w, id: $id) { secret } }';
    await expect(platform.must(rotate, { w: workspace.id, id })).rejects.toThrow('is a connected agent');
  });

  test('the agent of a suspended member answers 403', async () => {
    const email = 'colleague@example.com';
    const add = 'mutation ($w: ID!, $input: MemberInput!) { addMember(workspace: $w, input: $input) { id } }';
    const { addMember } = await platform.must(add, { w: workspace.id, input: { email, role: 'viewer' } });
    const { access_token: access } = await client.connect(await signIn(platform, email), workspace.id);
    expect((await ping(access)).status).toBe(200);
    const suspend = async (suspended: boolean) => {
      const update =
        'mutation ($w: ID!, $id: ID!, $input: MemberPatch!) { updateMember(workspace: $w, id: $id, input: $input) { id } }';
      await platform.must(update, { w: workspace.id, id: addMember.id, input: { suspended } });
    };
    await suspend(true);
    await until(async () => (await ping(access)).status === 403);
    await suspend(false);
    await until(async () => (await ping(access)).status === 200);
  });

  test('a suspended workspace answers 403', async () => {
    const { access_token: access } = await client.connect(person, workspace.id);
    await workspace.suspend(true);
    await until(async () => (await ping(access)).status === 403);
    await workspace.suspend(false);
    await until(async () => (await ping(access)).status === 200);
  });

  test.each([
    ['no redirect', { redirect_uris: [] }],
    ['too many redirects', { redirect_uris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) }],
    ['a redirect to a script', { redirect_uris: ['javascript:alert(1)'] }],
    ['plain http to another machine', { redirect_uris: ['http://a.example/callback'] }],
    ['no object', 'text'],
  ])('a registration with %s is refused', async (_name, metadata) => {
    expect((await register(platform.backendUrl, metadata)).status).toBe(400);
  });

  test('a flood of registrations is stopped', async () => {
    const flooded = await startPublicPlatform();
    const metadata = { redirect_uris: [redirectUri] };
    const statuses: number[] = [];
    for (let i = 0; i < 61; i++) statuses.push((await register(flooded.backendUrl, metadata)).status);
    expect([statuses.slice(0, 60).every((status) => status === 201), statuses[60]]).toEqual([true, 429]);
    await flooded.stop();
  });
});

describe('other tokens are refused', () => {
  const key = generateKeyPairSync('ed25519').privateKey;

  test.each([
    ['another audience', { aud: 'https://other.example/mcp' }],
    ['another issuer', { iss: 'somebody' }],
    ['no audience', { aud: [] }],
    ['a past expiry', { exp: 1_000_000_000 }],
    ['no key', { key: undefined }],
    ['another person', { sub: newId('user') }],
    ['an unknown key', { key: newId('key') }],
    ['another client', { client_id: 'other' }],
    ['no client', { client_id: undefined }],
  ])('%s', async (_name, changed) => {
    const { access_token: good } = await client.connect(person, workspace.id);
    expect((await ping(await platform.sign({ ...decodeJwt(good), ...changed }, 'at+jwt'))).status).toBe(401);
  });

  test('another type, another signature', async () => {
    const { access_token: good } = await client.connect(person, workspace.id);
    expect((await ping(await platform.sign(decodeJwt(good), 'at+jwt'))).status).toBe(200);
    expect((await ping(await platform.sign(decodeJwt(good), 'JWT'))).status).toBe(401);
    const forged = new SignJWT(decodeJwt(good)).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt' });
    expect((await ping(await forged.sign(key))).status).toBe(401);
  });

  test("a browser's session at remote-mcp, and an agent's token at GraphQL", async () => {
    const session = person.cookies.get(person.nameOf('access'))?.value ?? '';
    expect((await ping(session)).status).toBe(401);
    const { access_token: good } = await client.connect(person, workspace.id);
    const headers = { authorization: `Bearer ${good}` };
    expect((await person.post('/graphql', { query: '{ viewer { id } }' }, headers)).status).toBe(401);
  });
});

describe('a program with a key', () => {
  const exchange = (parameters: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${platform.backendUrl}/connect/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }),
    });
  const introspect = (parameters: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${platform.backendUrl}/connect/introspect`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(parameters),
    });
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
  });
  let count = 0;
  const newKey = (more: { expiresAt?: number } = {}) => workspace.key(`program-${++count}`, more);

  test('finds the way by itself, calls a tool, and is cut off with its key', async () => {
    const key = await newKey();
    const authProvider = new ClientCredentialsProvider({ clientId: key.id, clientSecret: key.text });
    const program = new Client({ name: 'test', version: '1' });
    await program.connect(new StreamableHTTPClientTransport(new URL(platform.mcpUrl), { authProvider }));
    const { content } = await program.callTool({ name: 'echo', arguments: { text: 'hi' } });
    expect(content).toEqual([{ type: 'text', text: 'hi' }]);
    await program.close();
    const token = authProvider.tokens()?.access_token ?? '';
    expect((await ping(token)).status).toBe(200);
    await workspace.revoke(key.id);
    await until(async () => (await ping(token)).status === 401);
    expect((await exchange({ client_id: key.id, client_secret: key.text })).status).toBe(401);
  });

  test('gets a token that ends with its key, without a refresh token, in both ways to authenticate', async () => {
    const expiresAt = Date.now() + 60_000;
    const key = await newKey({ expiresAt });
    const answers = [
      await exchange({ client_id: key.id, client_secret: key.text }),
      await exchange({}, basic(key.id, key.text)),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      const body = await answer.json();
      expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type']);
      const claims = decodeJwt(body.access_token);
      expect(claims).toMatchObject({ aud: platform.mcpUrl, client_id: key.id, key: key.id, scope: 'tools' });
      expect(claims.exp).toBeLessThanOrEqual(expiresAt / 1000);
    }
  });

  test('may ask for a token that only reads', async () => {
    const key = await newKey();
    const answer = await exchange({ client_id: key.id, client_secret: key.text, scope: 'tools:read' });
    const { access_token: token, scope } = await answer.json();
    expect([scope, decodeJwt(token).scope, (await ping(token)).status]).toEqual(['tools:read', 'tools:read', 200]);
  });

  test('is refused for anything else', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const { access_token: agent } = await client.connect(person, workspace.id);
    const own = { client_id: key.id, client_secret: key.text };
    const { access_token: token } = await (await exchange(own)).json();
    const rows: readonly [number, string, Readonly<Record<string, string>>, Readonly<Record<string, string>>?][] = [
      [401, 'invalid_client', { client_id: other.id, client_secret: key.text }],
      [401, 'invalid_client', { client_id: key.id, client_secret: `${key.text}x` }],
      [401, 'invalid_client', { client_id: key.id }],
      [401, 'invalid_client', { client_id: client.id }],
      [401, 'invalid_client', { client_id: String(decodeJwt(agent).key), client_secret: agent }],
      [401, 'invalid_client', { client_id: key.id, client_secret: token }],
      [401, 'invalid_client', { client_id: key.id, client_secret: platform.runtimeKey }],
      [401, 'invalid_client', {}, { authorization: `Bearer ${key.text}` }],
      [401, 'invalid_client', {}, { authorization: 'Basic !' }],
      [400, 'invalid_request', own, basic(key.id, key.text)],
      [400, 'invalid_target', { ...own, resource: 'https://other.example/mcp' }],
    ];
    for (const [status, error, parameters, headers] of rows) {
      const answer = await exchange(parameters, headers);
      const text = await answer.text();
      expect([answer.status, JSON.parse(text).error]).toEqual([status, error]);
      expect(text).not.toContain(key.text);
    }
    expect(platform.logged.join('')).not.toContain(key.text);
  });

  test('asks whether tokens of its workspace are good, until they are not', async () => {
    const key = await newKey();
    const own = { client_id: key.id, client_secret: key.text };
    const { access_token: exchanged } = await (await exchange({ ...own, scope: 'tools:read' })).json();
    const { access_token: agent } = await client.connect(person, workspace.id);
    const told = async (token: string) => await (await introspect({ ...own, token })).json();
    expect(await told(exchanged)).toEqual({
      active: true,
      token_type: 'Bearer',
      ...decodeJwt(exchanged),
      key: undefined,
    });
    expect(await told(agent)).toMatchObject({
      ...{ active: true, scope: 'tools', client_id: client.id, sub: decodeJwt(agent).sub, aud: platform.mcpUrl },
    });
    expect((await introspect({ token: agent }, basic(key.id, key.text))).headers.get('cache-control')).toBe('no-store');
    await workspace.revoke(parseId('key', String(decodeJwt(agent).key)));
    expect(await told(agent)).toEqual({ active: false });
  });

  test('learns nothing of tokens of another workspace, of keys, and of what is no token', async () => {
    const key = await newKey();
    const other = await TestWorkspace.create(platform, 'beta');
    const foreign = await other.key('foreign');
    const { access_token: theirs } = await (
      await exchange({ client_id: foreign.id, client_secret: foreign.text })
    ).json();
    const { access_token: good } = await client.connect(person, workspace.id);
    const session = person.cookies.get(person.nameOf('access'))?.value ?? '';
    const claims = decodeJwt(good);
    const expired = await platform.sign({ ...claims, exp: 1 }, 'at+jwt');
    const elsewhere = await platform.sign({ ...claims, aud: 'https://other.example/mcp' }, 'at+jwt');
    for (const token of [theirs, foreign.text, key.text, session, expired, elsewhere, `${good}x`, 'x', '']) {
      const answer = await introspect({ client_id: key.id, client_secret: key.text, token });
      expect([token, answer.status, await answer.json()]).toEqual([token, 200, { active: false }]);
    }
  });

  test('is refused an answer without a good key', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const { access_token: token } = await client.connect(person, workspace.id);
    const own = { client_id: key.id, client_secret: key.text };
    for (const [status, error, parameters, headers] of [
      [401, 'invalid_client', { token }],
      [401, 'invalid_client', { token, client_id: client.id }],
      [401, 'invalid_client', { ...own, token, client_id: other.id }],
      [401, 'invalid_client', { token }, { authorization: `Bearer ${token}` }],
      [400, 'invalid_request', own],
      [400, 'invalid_request', { ...own, token }, basic(key.id, key.text)],
    ] as const) {
      const answer = await introspect(parameters, headers);
      expect([answer.status, (await answer.json()).error]).toEqual([status, error]);
    }
    await workspace.revoke(key.id);
    expect((await introspect({ ...own, token })).status).toBe(401);
  });

  test('no body that is large, or whose length is unknown, is read for an answer', async () => {
    const send = (body: BodyInit, more: object = {}) =>
      fetch(`${platform.backendUrl}/connect/introspect`, { method: 'POST', body, ...more });
    expect((await send(`token=${'x'.repeat(1024 * 1024)}`)).status).toBe(413);
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.from('token=x&')) });
    expect((await send(endless, { duplex: 'half' })).status).toBe(400);
  });

  test('a flood of its requests is stopped, whichever they are', async () => {
    const flooded = await startPublicPlatform();
    const send = (path: string) =>
      fetch(`${flooded.backendUrl}/connect/${path}`, {
        ...{
          method: 'POST',
          body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'x', token: 'x' }),
        },
      });
    const statuses: number[] = [];
    for (let i = 0; i < 300; i++) {
      for (const path of ['token', 'introspect']) statuses.push((await send(path)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401]));
    for (const path of ['token', 'introspect']) expect((await send(path)).status).toBe(429);
    await flooded.stop();
  });

  test('no registration gives a client a secret or this grant', async () => {
    const asked = { grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_post' };
    const { status, body } = await register(platform.backendUrl, { redirect_uris: [redirectUri], ...asked });
    expect(status).toBe(201);
    expect(body).toMatchObject({ token_endpoint_auth_method: 'none' });
    expect(body.grant_types).toEqual(['authorization_code', 'refresh_token']);
    expect(body.client_secret).toBeUndefined();
  });
});

describe('clients in pages of any origin', () => {
  const origin = 'https://inspector.example';
  const preflight = (url: string, method: string, from = origin) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
      },
    });

  test.each([
    ['/connect/register', 'POST'],
    ['/connect/token', 'POST'],
    ['/connect/revoke', 'POST'],
    ['/.well-known/oauth-authorization-server', 'GET'],
    ['/.well-known/openid-configuration', 'GET'],
  ])('may ask %s, without cookies', async (path, method) => {
    const { status, headers } = await preflight(platform.backendUrl + path, method);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/inspector\.example)$/);
    expect(headers.get('access-control-allow-methods')).toContain(method);
    expect(headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(['/connect/register', '/connect/token'])('may read what %s refuses', async (path) => {
    const { status, headers } = await fetch(platform.backendUrl + path, {
      method: 'POST',
      headers: { origin },
      body: '',
    });
    expect(status).toBe(400);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
  });

  test('may read the metadata of the resource', async () => {
    const { status, headers } = await preflight(`${platform.url}/.well-known/oauth-protected-resource/mcp`, 'GET');
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
  });

  test.each(['interaction/x', 'interaction/x/consent', 'interaction/x/roles', 'interaction/x/refuse'])(
    'may not answer for the person: %s',
    async (path) => {
      const { status, headers } = await preflight(`${platform.backendUrl}/connect/${path}`, 'POST');
      expect([status, headers.get('access-control-allow-origin')]).toEqual([403, null]);
    },
  );

  test('call tools where an operator allows their origin, and read the way to sign in', async () => {
    const { url } = await platform.startAnother({ REMOTE_PORT: '0', SVC_ALLOWED_ORIGINS: origin });
    const { status, headers } = await preflight(`${url}/mcp`, 'POST');
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect((await preflight(`${url}/mcp`, 'POST', 'https://evil.example')).status).toBe(403);
    const asked = await fetch(`${url}/mcp`, { method: 'POST', headers: { origin }, body: '{}' });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
    expect(asked.headers.get('access-control-expose-headers')).toContain('www-authenticate');
  });
});
