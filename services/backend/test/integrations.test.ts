import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type McpServerId, parseId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { type ProtectedMcpServer, startProtectedMcpServer } from './protected-mcp-server.ts';
import { type Member, startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectRuntime, type TestRuntime } from './test-runtime.ts';

vi.setConfig({ testTimeout: 30_000 });

const redirectUri = 'http://localhost:8888/oauth/callback';
let backend: TestBackend;
let strict: TestBackend;
let cloud: TestRuntime;
let provider: ProtectedMcpServer;
let w: WorkspaceId;
let admin: Member;
let mcpServer: McpServerId;
let id: string;

beforeAll(async () => {
  backend = await startTestBackend({ MCP_SERVER_ALLOWED_ADDRESSES: '127.0.0.0/8' });
  strict = await startTestBackend();
  cloud = await platformRuntime(backend);
});
afterAll(async () => {
  await backend.stop();
  await strict.stop();
});

let count = 0;
beforeEach(async () => {
  provider = await startProtectedMcpServer({ redirectUri });
  await begin(backend, cloud);
});
afterEach(() => provider.stop());

async function platformRuntime(at: TestBackend): Promise<TestRuntime> {
  const key = newKey('system');
  await at.must(
    'mutation ($key: String!) { registerSystemKey(input: { component: "runtime", key: $key, runtimeNames: ["cloud"] }) }',
    { key: key.reveal() },
  );
  const runtime = await connectRuntime(at, { kind: 'system', key, component: 'runtime', runtimeName: 'cloud' });
  await runtime.shakeHands();
  return runtime;
}

/** A workspace whose MCP server has answered 401. */
async function begin(at: TestBackend, runtime: TestRuntime): Promise<void> {
  const made = await at.must(
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "owner@localhost" }) { id } }',
    { name: `w${++count}` },
  );
  w = made.createWorkspace.id;
  admin = await at.addMember(w, 'admin');
  const { createMcpServer } = await at.must(
    'mutation ($w: ID!, $url: String!) { createMcpServer(workspace: $w, input: { name: "crm", launch: { url: $url } }) { id } }',
    { w, url: provider.url },
  );
  mcpServer = parseId('mcpServer', createMcpServer.id);
  await refuse(runtime);
  id = (await at.must('query ($w: ID!) { workspace(id: $w) { integrations { nodes { id } } } }', { w })).workspace
    .integrations.nodes[0].id;
}

function refuse(runtime: TestRuntime, challenge: object = { scope: 'files:read' }) {
  const reason = { code: 'needs_authorization', message: 'HTTP 401', repair: 'Connect it.', challenge };
  return runtime.report([{ mcpServer, status: 'Error', health: 'red', reason, nextRetryAt: ++count }]);
}

const asked = (query: string, variables: object, token = admin.token, at = backend) =>
  at.ask({ query, variables: { w, id, ...variables }, token });
const beginQuery = 'mutation ($w: ID!, $id: ID!) { beginIntegration(workspace: $w, id: $id) }';
const finishQuery = 'mutation ($answer: String!) { finishIntegration(answer: $answer) { id state } }';

async function beginsAt(token = admin.token): Promise<string> {
  const { data, errors } = await asked(beginQuery, {}, token);
  expect(errors).toEqual([]);
  return data.beginIntegration;
}

async function connect(): Promise<void> {
  const answer = await provider.visit(await beginsAt());
  const { errors, data } = await asked(finishQuery, { answer });
  expect([errors, data?.finishIntegration]).toEqual([[], { id, state: 'connected' }]);
}

async function shown() {
  const fields =
    'id state issuer client clientId scopes wantedScopes expiresAt redirectUri problem { code message } mcpServer { name }';
  return (
    await backend.must(`query ($w: ID!, $id: ID!) { workspace(id: $w) { integration(id: $id) { ${fields} } } }`, {
      ...{ w, id },
    })
  ).workspace.integration;
}

async function assigned() {
  const { assignments } = await cloud.shakeHands();
  const found = assignments?.find((one) => one.mcpServer === mcpServer);
  return found !== undefined && 'launch' in found ? found : undefined;
}

/** Its tokens are due now. */
const due = () =>
  backend.withGraph((graph) =>
    graph.write((transaction) =>
      transaction.update(
        'integration',
        parseId('integration', id),
        { dueAt: 1, refreshedAt: 1 },
        { anchor: w, keepsVersion: true },
      ),
    ),
  );

describe('an integration', () => {
  test('is made when an MCP server answers 401, once', async () => {
    await refuse(cloud);
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { integrations { nodes { id state mcpServer { name } redirectUri } } mcpServer(name: "crm") { integration { id } reason { code } } } }',
      { w },
    );
    const one = { id, state: 'needs_authorization', mcpServer: { name: 'crm' }, redirectUri };
    expect(workspace.integrations.nodes).toEqual([one]);
    expect(workspace.mcpServer).toEqual({ integration: { id }, reason: { code: 'needs_authorization' } });
  });

  test('connects by a registration of its own, and its token reaches the runtime and nobody else', async () => {
    const etag = (await cloud.shakeHands()).etag;
    expect((await assigned())?.authorization).toBeUndefined();
    await connect();
    expect((await cloud.shakeHands(etag)).etag).not.toBe(etag);
    const { authorization = '', configVersion } = (await assigned()) ?? {};
    const token = authorization.replace('Bearer ', '');
    expect([configVersion, await provider.knows(token)]).toEqual([1, true]);
    expect(await shown()).toMatchObject({
      ...{ state: 'connected', issuer: provider.issuer, client: 'dynamic', scopes: ['files:read'], problem: null },
    });
    const everything = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { activity { nodes { action subjectKind changes } } mcpServer(name: "crm") { launch { headers { name value } } } } }',
      { w },
    );
    const text = JSON.stringify([everything, await shown(), backend.logged]);
    expect(text).not.toContain(token);
    expect(everything.workspace.activity.nodes[0]).toMatchObject({ action: 'update', subjectKind: 'integration' });
    const stored = await backend.withGraph((graph) => graph.find('integration', parseId('integration', id), w));
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test('asks for PKCE, the resource and the scopes of the challenge', async () => {
    const { searchParams: asks } = new URL(await beginsAt());
    expect(Object.fromEntries(asks)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', resource: provider.url, scope: 'files:read' },
      redirect_uri: redirectUri,
    });
    await asked(
      'mutation ($w: ID!, $id: ID!) { updateIntegration(workspace: $w, id: $id, input: { scopes: ["files:write"] }) { id } }',
      {},
    );
    expect(new URL(await beginsAt()).searchParams.get('scope')).toBe('files:write');
  });

  test('uses the client that an admin entered, at its authorization server only', async () => {
    const input = { clientId: 'own', clientSecret: 'own-secret-8c21' };
    const query =
      'mutation ($w: ID!, $id: ID!, $input: IntegrationPatch!) { updateIntegration(workspace: $w, id: $id, input: $input) { client clientId } }';
    expect((await asked(query, { input })).data.updateIntegration).toEqual({ client: 'own', clientId: 'own' });
    await connect();
    const other = await startProtectedMcpServer({ redirectUri });
    provider.metadata = { authorization_servers: [other.issuer] };
    const { code } = await asked(beginQuery, {});
    expect([code, other.asked.filter((path) => path.startsWith('POST'))]).toEqual(['conflict', []]);
    await other.stop();
  });

  test('explains what to register where the authorization server registers nobody', async () => {
    await provider.stop();
    provider = await startProtectedMcpServer({ redirectUri, registers: false });
    await begin(backend, cloud);
    const { code, errors } = await asked(beginQuery, {});
    expect([code, errors[0]?.extensions.hint]).toEqual(['unsupported', expect.stringContaining(redirectUri)]);
  });
});

describe('an answer is refused', () => {
  test('in the browser session of another admin, and the own one still works', async () => {
    const other = await backend.addMember(w, 'admin');
    const answer = await provider.visit(await beginsAt());
    expect((await asked(finishQuery, { answer }, other.token)).code).toBe('invalid_input');
    const again = await backend.userToken(admin.user);
    expect((await asked(finishQuery, { answer }, again)).code).toBe('invalid_input');
    expect((await asked(finishQuery, { answer })).data.finishIntegration.state).toBe('connected');
  });

  test('the second time', async () => {
    const answer = await provider.visit(await beginsAt());
    await asked(finishQuery, { answer });
    expect((await asked(finishQuery, { answer })).code).toBe('invalid_input');
  });

  test.each([
    ['with the issuer of another server', (answer: URLSearchParams) => answer.set('iss', 'https://evil.example')],
    ['without the issuer', (answer: URLSearchParams) => answer.delete('iss')],
    ['with another code', (answer: URLSearchParams) => answer.set('code', 'x')],
  ])('%s', async (_what, change) => {
    const answer = new URLSearchParams(await provider.visit(await beginsAt()));
    change(answer);
    const { code, errors } = await asked(finishQuery, { answer: answer.toString() });
    expect([code, errors[0]?.message]).toEqual(['forbidden', expect.stringContaining('Authorization failed')]);
    expect((await shown()).state).toBe('needs_authorization');
  });

  test('with an error, whose own words nobody sees', async () => {
    provider.isRefused = true;
    const answer = new URLSearchParams(await provider.visit(await beginsAt()));
    answer.set('error_description', 'call 555-0100');
    const { errors } = await asked(finishQuery, { answer: answer.toString() });
    expect(errors[0]?.message).toContain('(access_denied)');
    expect(JSON.stringify(errors)).not.toContain('555');
  });

  test('for a redirect URI that is registered differently, by the provider itself', async () => {
    const address = new URL(await beginsAt());
    address.searchParams.set('redirect_uri', `${redirectUri}/`);
    await expect(provider.visit(address.href)).rejects.toThrow(/redirect_uri/);
  });
});

describe('the tokens', () => {
  test('are refreshed when they are due, and reach the runtime without another configuration', async () => {
    await connect();
    const before = await assigned();
    await due();
    await vi.waitFor(async () => expect((await assigned())?.authorization).not.toBe(before?.authorization), waiting);
    const after = await assigned();
    expect(after?.configVersion).toBe(before?.configVersion);
    expect(await provider.knows(after?.authorization?.replace('Bearer ', '') ?? '')).toBe(true);
    expect((await shown()).state).toBe('connected');
  });

  test('expire when the provider refuses to renew them, and Reconnect repairs it', async () => {
    await connect();
    // The provider has forgotten the grant.
    const query = 'mutation ($w: ID!, $id: ID!) { disconnectIntegration(workspace: $w, id: $id) { state } }';
    const kept = await backend.withGraph((graph) => graph.find('integration', parseId('integration', id), w));
    await asked(query, {});
    await backend.withGraph((graph) =>
      graph.write((transaction) =>
        transaction.update(
          'integration',
          parseId('integration', id),
          { tokens: kept?.tokens ?? null, state: 'connected', dueAt: 1 },
          { anchor: w },
        ),
      ),
    );
    await vi.waitFor(async () => expect((await shown()).state).toBe('expired'), waiting);
    expect((await shown()).problem).toMatchObject({ code: 'token_expired' });
    expect((await assigned())?.authorization).toBeUndefined();
    const listed = `query ($w: ID!) { workspace(id: $w) {
      expired: integrations(state: expired) { nodes { id } } connected: integrations(state: connected) { nodes { id } } } }`;
    const { expired, connected } = (await backend.must(listed, { w })).workspace;
    expect([expired.nodes, connected.nodes]).toEqual([[{ id }], []]);
    await connect();
    expect((await assigned())?.authorization).toMatch(/^Bearer /);
  });

  test('are kept and tried again while the provider is away', async () => {
    await connect();
    const { authorization } = (await assigned()) ?? {};
    provider.tokenStatus = 503;
    await due();
    await vi.waitFor(async () => expect((await shown()).problem?.code).toBe('refresh_failed'), waiting);
    expect([(await shown()).state, (await assigned())?.authorization]).toEqual(['connected', authorization]);
  });

  test('are not given to another URL', async () => {
    await connect();
    await asked(
      'mutation ($w: ID!, $id: ID!) { updateMcpServer(workspace: $w, id: $id, input: { launch: { url: "https://evil.example/mcp" } }) { id } }',
      { id: mcpServer },
    );
    expect(await assigned()).toMatchObject({ launch: { url: 'https://evil.example/mcp' } });
    expect((await assigned())?.authorization).toBeUndefined();
  });

  test('are revoked at the provider when a person disconnects', async () => {
    await connect();
    const { authorization = '' } = (await assigned()) ?? {};
    const query = 'mutation ($w: ID!, $id: ID!) { disconnectIntegration(workspace: $w, id: $id) { state } }';
    expect((await asked(query, {})).data.disconnectIntegration.state).toBe('needs_authorization');
    expect((await assigned())?.authorization).toBeUndefined();
    expect(provider.asked).toContain('POST /token/revocation');
    expect(await provider.knows(authorization.replace('Bearer ', ''))).toBe(false);
  });

  test.each([
    [
      'MCP server',
      () => asked('mutation ($w: ID!, $s: ID!) { removeMcpServer(workspace: $w, id: $s) }', { s: mcpServer }),
    ],
    ['workspace', () => backend.must('mutation ($w: ID!) { removeWorkspace(id: $w) }', { w })],
  ])('are revoked at the provider when the %s is removed', async (_what, remove) => {
    await connect();
    const { authorization = '' } = (await assigned()) ?? {};
    await remove();
    expect(await assigned()).toBeUndefined();
    expect(await provider.knows(authorization.replace('Bearer ', ''))).toBe(false);
  });
});

describe('the platform', () => {
  test('reaches no private address that the operator did not allow', async () => {
    const runtime = await platformRuntime(strict);
    await begin(strict, runtime);
    const { code, errors } = await asked(beginQuery, {}, admin.token, strict);
    expect([code, errors[0]?.message]).toEqual(['forbidden', expect.stringContaining('loopback')]);
    expect(provider.asked).toEqual([]);
  });

  test.each([
    ['another resource', { resource: 'http://127.0.0.1:1/mcp' }],
    ['an authorization server without https', { authorization_servers: ['http://provider.example'] }],
    ['a script as authorization server', { authorization_servers: ['javascript:alert(1)'] }],
  ])('refuses metadata of %s', async (_what, metadata) => {
    provider.metadata = metadata;
    const { code, data } = await asked(beginQuery, {});
    expect([code, data]).toEqual(['unavailable', null]);
    expect(provider.asked).toEqual([]);
  });

  test('leaves out claims of a challenge that are too long, and keeps the report', async () => {
    await refuse(cloud, { scope: 'x'.repeat(5000), resourceMetadata: 'line\nbreak' });
    expect(await shown()).toMatchObject({ state: 'needs_authorization' });
    expect((await asked(beginQuery, {})).errors).toEqual([]);
  });
});

/** The backend looks for due tokens every ten seconds. */
const waiting = { timeout: 25_000, interval: 250 };
