import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGraph } from '../../services/backend/graph/open-graph.ts';
import { openSecrets } from '../../services/backend/secrets/secrets.ts';
import type { Id } from '../../services/contracts/ids.ts';
import { newKey } from '../../services/contracts/keys.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { openSession, ping, type RawAnswer, type RawRequest, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { firstOf } from '../parts/parts.ts';
import { readSecret } from '../secrets/secrets.ts';
import { type ComposedPlatform, composePlatform } from './composed-platform.ts';
import { foreignServers } from './foreign-servers.ts';
import { startTimeoutMs } from './platform.ts';
import { until } from './until.ts';

let platform: ComposedPlatform;
let workspace: string;
/** Keys by what becomes of them. */
const keys: Record<string, string> = {};
/** A session of the good key in which the skill is loaded. */
let session: string;
let foreignSkill: string;
let demoSkill: string;
let darkSkill: string;

const createKey =
  'mutation ($w: ID!, $input: KeyInput!) { createKey(workspace: $w, input: $input) { secret key { id } } }';
const patchServer =
  'mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) { updateMcpServer(workspace: $w, id: $id, input: $input) { id } }';

async function addKey(name: string, input: object = {}, of = workspace): Promise<string> {
  const { createKey: made } = await platform.must(createKey, { w: of, input: { name, ...input } });
  keys[name] = made.secret;
  return made.key.id;
}

async function addServer(of: string, name: string): Promise<string> {
  const [command, ...args] = foreignServers.everything;
  const { createMcpServer: made } = await platform.must(
    'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }',
    { w: of, input: { name, launch: { command, args } } },
  );
  await until(async () => {
    const { workspace: seen } = await platform.must(
      'query ($w: ID!, $id: ID!) { workspace(id: $w) { mcpServer(id: $id) { status } } }',
      { w: of, id: made.id },
    );
    return seen.mcpServer.status === 'Connected';
  });
  return made.id;
}

/** A skill in a role of the same name. */
async function addSkill(of: string, name: string, mcpServer: string) {
  const { createSkill } = await platform.must(
    'mutation ($w: ID!, $input: SkillInput!) { createSkill(workspace: $w, input: $input) { id } }',
    { w: of, input: { name, tools: [{ mcpServer, tool: 'echo' }] } },
  );
  const { createRole } = await platform.must(
    'mutation ($w: ID!, $input: RoleInput!) { createRole(workspace: $w, input: $input) { id } }',
    { w: of, input: { name, skills: [createSkill.id] } },
  );
  return { skill: createSkill.id as string, role: createRole.id as string };
}

beforeAll(async () => {
  platform = await composePlatform((yaml) => yaml.replace('agents: []', 'agents: [https://agent.example]'));
  workspace = (await platform.must('{ workspace(name: "Default") { id } }')).workspace.id;
  const { createWorkspace } = await platform.must(
    'mutation { createWorkspace(input: { name: "Suspended", ownerEmail: "s@localhost" }) { id } }',
  );
  // The first of that name gets the bare one.
  await addServer(workspace, 'on');
  await addServer(workspace, 'off').then(disable);
  const demo = await addSkill(workspace, 'demo', 'on');
  demoSkill = demo.skill;
  darkSkill = (await addSkill(workspace, 'dark', 'off')).skill;
  const { createSkill } = await platform.must(
    'mutation ($w: ID!) { createSkill(workspace: $w, input: { name: "demo" }) { id } }',
    { w: createWorkspace.id },
  );
  foreignSkill = createSkill.id;
  await addKey('good');
  await addKey('unseen');
  await addKey('narrow', { roles: [demo.role] });
  await addKey('revoked');
  await platform.must('mutation ($w: ID!) { revokeKey(workspace: $w, key: "revoked") { id } }', { w: workspace });
  await addKey('suspended', {}, createWorkspace.id);
  await platform.must('mutation ($w: ID!) { updateWorkspace(id: $w, input: { suspended: true }) { id } }', {
    w: createWorkspace.id,
  });
  await addLegacyKey('USK-made-long-ago');
  session = await openSession(platform.mcpUrl, keys.good ?? '');
  await call('load_skill', { skill: 'demo' });
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

async function disable(id: string): Promise<void> {
  await platform.must(patchServer, { w: workspace, id, input: { enabled: false } });
}

/** Nothing issues keys of this kind any more: one is made of a new key, as an import would leave it. */
async function addLegacyKey(text: string): Promise<void> {
  const id = (await addKey('legacy')) as Id<'key'>;
  const { parts, secrets } = platform.plan;
  const graph = await openGraph({ url: firstOf('backend', parts).variables.PRIVATE_GRAPHDB_URL ?? '' });
  const { digest } = openSecrets({ present: new Secret(readSecret(secrets.encryptionKey)), previous: undefined });
  await graph.write(async (transaction) => {
    await transaction.update('key', id, { digest: digest(new Secret(text)) }, { anchor: workspace as Id<'workspace'> });
  });
  await graph.close();
  keys.legacy = text;
}

function bare(authorization: string | null, more: RawRequest = {}): Promise<RawAnswer> {
  return send(platform.mcpUrl, { body: ping, ...more, headers: { authorization, ...more.headers } });
}

function call(name: string, args: object): Promise<RawAnswer> {
  return send(platform.mcpUrl, { key: keys.good, session, body: rpc('tools/call', { name, arguments: args }) });
}

interface Row {
  readonly what: string;
  readonly ask: () => Promise<RawAnswer>;
  readonly status: number;
  readonly says?: RegExp;
}

const withKey = (name: string) => () => bare(`Bearer ${keys[name]}`);

/** Part 5 of the specification, "Agent API keys", by number, and part 7, by row: answers that do not depend on the backend. */
const rows: readonly Row[] = [
  { what: '5.1 a good key with the word Bearer', ask: withKey('good'), status: 200 },
  { what: '5.1, 7.3 a good key without it', ask: () => bare(keys.good ?? ''), status: 401, says: /lacks the word/ },
  { what: '7.3 another scheme', ask: () => bare(`Basic ${keys.good}`), status: 401, says: /lacks the word/ },
  { what: '5.2 an older key (USK)', ask: withKey('legacy'), status: 200 },
  {
    what: '5.3 a workspace key (WSK_)',
    ask: () => bare(`Bearer WSK_${keys.good?.slice(4)}`),
    status: 401,
    says: /retired/,
  },
  { what: '5.4 another prefix', ask: () => bare(`Bearer ABC_${keys.good?.slice(4)}`), status: 401, says: /prefixes/ },
  { what: '5.4 a typo', ask: () => bare(`Bearer ${typo(keys.good ?? '')}`), status: 401, says: /typo/ },
  { what: '5.4 half a key', ask: () => bare(`Bearer ${keys.good?.slice(0, 20)}`), status: 401, says: /length/ },
  {
    what: '5.4 a key of a runtime',
    ask: () => bare(`Bearer ${newKey('runtime').reveal()}`),
    status: 401,
    says: /component/,
  },
  {
    what: '5.4 the key of remote-mcp itself',
    ask: () => bare(`Bearer ${readSecret(platform.plan.secrets.remoteMcpKey)}`),
    status: 401,
    says: /component/,
  },
  { what: '7.1 no key', ask: () => bare(null), status: 401, says: /no API key/ },
  {
    what: '7.1 before the origin',
    ask: () => bare(null, { headers: { origin: 'https://evil.example' } }),
    status: 401,
  },
  { what: '7.1 before the method', ask: () => bare(null, { method: 'PUT' }), status: 401 },
  { what: '7.1 before the body', ask: () => bare('Bearer WSK_x', { body: '{' }), status: 401 },
  { what: '7.1 before the session', ask: () => bare('Bearer WSK_x', { session: 'none' }), status: 401 },
  { what: '7.2 a suspended workspace', ask: withKey('suspended'), status: 403, says: /suspended/ },
  {
    what: '7.2, 5.5 a skill of another workspace',
    ask: () => preload(foreignSkill),
    status: 403,
    says: /not within this API key/,
  },
  {
    what: '7.2 a skill that is nowhere',
    ask: () => preload(`${foreignSkill.slice(0, -1)}x`),
    status: 403,
    says: /not within this API key/,
  },
  {
    what: '7.2 a skill outside the roles of the key',
    ask: () => preload(darkSkill, 'narrow'),
    status: 403,
    says: /not within this API key/,
  },
  { what: '7.2 a skill within them', ask: () => preload(demoSkill, 'narrow'), status: 200 },
  {
    what: '7.11 an origin that is not allowed',
    ask: () => bare(`Bearer ${keys.good}`, { headers: { origin: 'https://evil.example' } }),
    status: 403,
    says: /origin/i,
  },
  {
    what: '7.11 an origin that is',
    ask: () => bare(`Bearer ${keys.good}`, { headers: { origin: 'https://agent.example' } }),
    status: 200,
  },
  {
    what: '7.10 tools of an MCP server that is Connected',
    ask: () => call('echo', { message: 'x' }),
    status: 200,
    says: /Echo: x/,
  },
  {
    what: '7.10 tools of one that is Disconnected',
    ask: () => call('load_skill', { skill: 'dark' }),
    status: 200,
    says: /not available|Repair/i,
  },
  { what: '5.8 /health, whatever the header', ask: () => health('Bearer WSK_x'), status: 200, says: /ok/ },
  { what: '5.8 /health, without one', ask: () => health(null), status: 200, says: /ok/ },
];

/** What only the backend knows: how it answers, and what is said while nobody can ask it. */
const asked: readonly (Row & { readonly awayStatus: number; readonly awaySays: RegExp })[] = [
  {
    what: '5.2 a good key that was not seen before',
    ask: withKey('unseen'),
    status: 200,
    awayStatus: 503,
    awaySays: /cannot be checked/,
  },
  {
    what: '7.1 a key that nobody created',
    ask: () => bare(`Bearer ${newKey('user').reveal()}`),
    status: 401,
    says: /not known/,
    awayStatus: 503,
    awaySays: /cannot be checked/,
  },
  {
    what: '7.1 an older key that nobody imported',
    ask: () => bare(`Bearer USK-${randomUUID()}`),
    status: 401,
    says: /not known/,
    awayStatus: 503,
    awaySays: /cannot be checked/,
  },
];

function named<Kind extends Row>(all: readonly Kind[]): (readonly [string, Kind])[] {
  return all.map((row) => [row.what, row]);
}

function typo(key: string): string {
  return `${key.slice(0, 10)}${key[10] === 'a' ? 'b' : 'a'}${key.slice(11)}`;
}

function health(authorization: string | null): Promise<RawAnswer> {
  return send(platform.mcpUrl.replace('/mcp', '/health'), { method: 'GET', headers: { authorization } });
}

function preload(skill: string, key = 'good'): Promise<RawAnswer> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return send(`${platform.mcpUrl}?skillIds=${skill}`, { key: keys[key], body: rpc('initialize', params) });
}

function expectAnswer(answer: RawAnswer, status: number, says: RegExp = /^/): void {
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(says)]);
  if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  if (status >= 400) expect(answer.body.error).toMatchObject({ message: expect.any(String), hint: expect.any(String) });
}

/** Used while it is good, so that it is remembered; refused from its last moment on. */
async function expectExpiry(name: string, expiresAt: number): Promise<void> {
  await until(() => Date.now() > expiresAt);
  expectAnswer(await bare(`Bearer ${keys[name]}`), 401, /past its expiration date \(\d{4}-/);
}

describe('while the backend is there', () => {
  test.each(named([...rows, ...asked.slice(1)]))('%s', async (_what, { ask, status, says }) => {
    expectAnswer(await ask(), status, says);
  });

  test('5.6 a key is refused from its expiry on, though it was just in use', async () => {
    const expiresAt = Date.now() + 1500;
    await addKey('short', { expiresAt });
    expectAnswer(await bare(`Bearer ${keys.short}`), 200);
    await expectExpiry('short', expiresAt);
    const { workspace: seen } = await platform.must(
      'query ($w: ID!) { workspace(id: $w) { keys { nodes { name state } } } }',
      { w: workspace },
    );
    expect(seen.keys.nodes).toContainEqual({ name: 'short', state: 'expired' });
  });

  test('7.1 a key that was revoked', async () => {
    expectAnswer(await bare(`Bearer ${keys.revoked}`), 401, /was revoked/);
  });

  test.each([
    ['/graphql', 'POST'],
    ['/internal/catalogue/wsp_x', 'GET'],
  ])('5.3 a workspace key is rejected at %s too', async (path, method) => {
    const url = `${platform.plan.addresses.local.backend}${path}`;
    const body = method === 'POST' ? { body: { query: '{ viewer { id } }' } } : {};
    for (const key of [`WSK_${keys.good?.slice(4)}`, keys.good]) {
      expect((await send(url, { method, key, ...body })).status).toBe(401);
    }
  });
});

describe('while the backend alone is stopped', () => {
  let expiresAt: number;

  beforeAll(async () => {
    expiresAt = Date.now() + 3000;
    await addKey('short-away', { expiresAt });
    for (const name of ['good', 'legacy', 'narrow', 'suspended', 'short-away']) await bare(`Bearer ${keys[name]}`);
    await platform.stopBackend();
  });
  afterAll(() => platform.startBackend());

  test('its address is closed, and the others answer', async () => {
    const { local } = platform.plan.addresses;
    await expect(fetch(`${local.backend}/health`)).rejects.toThrow();
    for (const url of [local['remote-mcp'], local.runtime]) expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test.each(named(rows))('%s', async (_what, { ask, status, says }) => {
    expectAnswer(await ask(), status, says);
  });

  test.each(named(asked))('%s', async (_what, { ask, awayStatus, awaySays }) => {
    const answer = await ask();
    expectAnswer(answer, awayStatus, awaySays);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  test('5.6 a key that is remembered is refused from its expiry on', async () => {
    await expectExpiry('short-away', expiresAt);
  });

  test('a new session opens and its tools are called, as far as keys are remembered', async () => {
    const opened = await openSession(platform.mcpUrl, keys.good ?? '');
    const ask = (name: string, args: object) =>
      send(platform.mcpUrl, { key: keys.good, session: opened, body: rpc('tools/call', { name, arguments: args }) });
    await ask('load_skill', { skill: 'demo' });
    expectAnswer(await ask('echo', { message: 'alone' }), 200, /Echo: alone/);
  });
});

test('a backend that is back is asked again', async () => {
  await until(async () => (await withKey('unseen')()).status === 200);
  for (const { ask, status, says } of asked) expectAnswer(await ask(), status, says);
});
