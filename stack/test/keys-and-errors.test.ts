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

type Row = [what: string, ask: () => Promise<RawAnswer>, status: number, says?: RegExp];

const withKey = (name: string) => () => bare(`Bearer ${keys[name]}`);

/** Part 5 of the specification, "Agent API keys", by number, and part 7, by row: answers that do not depend on the backend. */
const rows: readonly Row[] = [
  ['5.1 a good key with the word Bearer', withKey('good'), 200],
  ['5.1, 7.3 a good key without it', () => bare(keys.good ?? ''), 401, /lacks the word/],
  ['7.3 another scheme', () => bare(`Basic ${keys.good}`), 401, /lacks the word/],
  ['5.2 an older key (USK)', withKey('legacy'), 200],
  ['5.3 a workspace key (WSK_)', () => bare(`Bearer WSK_${keys.good?.slice(4)}`), 401, /retired/],
  ['5.4 another prefix', () => bare(`Bearer ABC_${keys.good?.slice(4)}`), 401, /prefixes/],
  ['5.4 a typo', () => bare(`Bearer ${typo(keys.good ?? '')}`), 401, /typo/],
  ['5.4 half a key', () => bare(`Bearer ${keys.good?.slice(0, 20)}`), 401, /length/],
  ['5.4 a key of a runtime', () => bare(`Bearer ${newKey('runtime').reveal()}`), 401, /component/],
  [
    '5.4 the key of remote-mcp itself',
    () => bare(`Bearer ${readSecret(platform.plan.secrets.remoteMcpKey)}`),
    401,
    /component/,
  ],
  ['7.1 no key', () => bare(null), 401, /no API key/],
  ['7.1 before the origin', () => bare(null, { headers: { origin: 'https://evil.example' } }), 401],
  ['7.1 before the method', () => bare(null, { method: 'PUT' }), 401],
  ['7.1 before the body', () => bare('Bearer WSK_x', { body: '{' }), 401],
  ['7.1 before the session', () => bare('Bearer WSK_x', { session: 'none' }), 401],
  ['7.2 a suspended workspace', withKey('suspended'), 403, /suspended/],
  ['7.2, 5.5 a skill of another workspace', () => preload(foreignSkill), 403, /not within this API key/],
  ['7.2 a skill that is nowhere', () => preload(`${foreignSkill.slice(0, -1)}x`), 403, /not within this API key/],
  ['7.2 a skill outside the roles of the key', () => preload(darkSkill, 'narrow'), 403, /not within this API key/],
  ['7.2 a skill within them', () => preload(demoSkill, 'narrow'), 200],
  [
    '7.11 an origin that is not allowed',
    () => bare(`Bearer ${keys.good}`, { headers: { origin: 'https://evil.example' } }),
    403,
    /origin/i,
  ],
  ['7.11 an origin that is', () => bare(`Bearer ${keys.good}`, { headers: { origin: 'https://agent.example' } }), 200],
  ['7.10 tools of an MCP server that is Connected', () => call('echo', { message: 'x' }), 200, /Echo: x/],
  ['7.10 tools of one that is Disconnected', () => call('load_skill', { skill: 'dark' }), 200, /not available|Repair/i],
  ['5.8 /health, whatever the header', () => health('Bearer WSK_x'), 200, /ok/],
  ['5.8 /health, without one', () => health(null), 200, /ok/],
];

/** What only the backend knows. While it is away, the key cannot be checked. */
const asked: readonly Row[] = [
  ['5.2 a good key that was not seen before', withKey('unseen'), 200],
  ['7.1 a key that nobody created', () => bare(`Bearer ${newKey('user').reveal()}`), 401, /not known/],
  ['7.1 an older key that nobody imported', () => bare(`Bearer USK-${randomUUID()}`), 401, /not known/],
];

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
  test.each([...rows, ...asked.slice(1)])('%s', async (_what, ask, status, says) => {
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

  test.each(rows)('%s', async (_what, ask, status, says) => {
    expectAnswer(await ask(), status, says);
  });

  test.each(asked)('%s', async (_what, ask) => {
    const answer = await ask();
    expectAnswer(answer, 503, /cannot be checked/);
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
  for (const [, ask, status, says] of asked) expectAnswer(await ask(), status, says);
});
