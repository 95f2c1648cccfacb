import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGraph } from '../../services/backend/graph/open-graph.ts';
import { openSecrets } from '../../services/backend/secrets/secrets.ts';
import type { Id } from '../../services/contracts/ids.ts';
import { newKey } from '../../services/contracts/keys.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { openSession, ping, type RawAnswer, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import {
  createKeyMutation,
  createMcpServerMutation,
  createRoleMutation,
  createSkillMutation,
  mcpServerQuery,
  type ToolRef,
  updateMcpServerMutation,
} from '../client/generated/operations.ts';
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

async function addKey(name: string, input: object = {}, of = workspace): Promise<string> {
  const variables = { workspace: of, input: { name, ...input } };
  const { createKey } = await platform.backend.send(createKeyMutation, variables);
  keys[name] = createKey.secret;
  return createKey.key.id;
}

async function addServer(name: string): Promise<string> {
  const [command, ...args] = foreignServers.everything;
  const variables = { workspace, input: { name, launch: { command, args } } };
  const { id } = (await platform.backend.send(createMcpServerMutation, variables)).createMcpServer;
  await until(async () => {
    const seen = await platform.backend.send(mcpServerQuery, { workspace, id });
    return seen.workspace?.mcpServer?.status === 'Connected';
  });
  return id;
}

async function addSkill(of: string, name: string, tools: readonly ToolRef[] = []): Promise<string> {
  return (await platform.backend.send(createSkillMutation, { workspace: of, input: { name, tools } })).createSkill.id;
}

/** A role of one skill. */
async function addRole(name: string, skill: string): Promise<string> {
  const variables = { workspace, input: { name, skills: [skill] } };
  return (await platform.backend.send(createRoleMutation, variables)).createRole.id;
}

beforeAll(async () => {
  platform = await composePlatform();
  workspace = (await platform.must('{ workspace(name: "Default") { id } }')).workspace.id;
  const { createWorkspace } = await platform.must(
    'mutation { createWorkspace(input: { name: "Suspended", ownerEmail: "s@localhost" }) { id } }',
  );
  // The first of that name gets the bare one.
  await addServer('on');
  const off = await addServer('off');
  await platform.backend.send(updateMcpServerMutation, { workspace, id: off, input: { enabled: false } });
  demoSkill = await addSkill(workspace, 'demo', [{ mcpServer: 'on', tool: 'echo' }]);
  const demoRole = await addRole('demo', demoSkill);
  darkSkill = await addSkill(workspace, 'dark', [{ mcpServer: 'off', tool: 'echo' }]);
  await addRole('dark', darkSkill);
  foreignSkill = await addSkill(createWorkspace.id, 'demo');
  await addKey('good');
  await addKey('unseen');
  await addKey('narrow', { roles: [demoRole] });
  await addKey('suspended', {}, createWorkspace.id);
  await platform.must('mutation ($w: ID!) { updateWorkspace(id: $w, input: { suspended: true }) { id } }', {
    w: createWorkspace.id,
  });
  await addLegacyKey('USK-made-long-ago');
  session = await openSession(platform.mcpUrl, keys.good ?? '');
  await call('load_skill', { skill: 'demo' });
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

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

function bare(authorization: string | null): Promise<RawAnswer> {
  return send(platform.mcpUrl, { body: ping, headers: { authorization } });
}

function call(name: string, args: object): Promise<RawAnswer> {
  return send(platform.mcpUrl, { key: keys.good, session, body: rpc('tools/call', { name, arguments: args }) });
}

type Row = readonly [what: string, ask: () => Promise<RawAnswer>, status: number, says: RegExp];

const anything = /^/;

const withKey = (name: string) => () => bare(`Bearer ${keys[name]}`);

/** Part 5 of the specification, "Agent API keys", by number, and part 7, by row: answers that do not depend on the backend. */
const rows: readonly Row[] = [
  ['5.1 a good key with the word Bearer', withKey('good'), 200, anything],
  ['5.1, 7.3 a good key without it', () => bare(keys.good ?? ''), 401, /lacks the word/],
  ['7.3 another scheme', () => bare(`Basic ${keys.good}`), 401, /lacks the word/],
  ['5.2 an older key (USK)', withKey('legacy'), 200, anything],
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
  ['7.2 a suspended workspace', withKey('suspended'), 403, /suspended/],
  ['7.2, 5.5 a skill of another workspace', () => preload(foreignSkill), 403, /not within this API key/],
  ['7.2 a skill that is nowhere', () => preload(`${foreignSkill.slice(0, -1)}x`), 403, /not within this API key/],
  ['7.2 a skill outside the roles of the key', () => preload(darkSkill, 'narrow'), 403, /not within this API key/],
  ['7.2 a skill within them', () => preload(demoSkill, 'narrow'), 200, anything],
  ['7.10 tools of an MCP server that is Connected', () => call('echo', { message: 'x' }), 200, /Echo: x/],
  ['7.10 tools of one that is Disconnected', () => call('load_skill', { skill: 'dark' }), 200, /not available|Repair/i],
];

/** Keys that only the backend knows. While it is away, they cannot be checked. */
const asked: readonly Row[] = [
  ['5.2 a good key that was not seen before', withKey('unseen'), 200, anything],
  ['7.1 a key that nobody created', () => bare(`Bearer ${newKey('user').reveal()}`), 401, /not known/],
  ['7.1 an older key that nobody imported', () => bare(`Bearer USK-${randomUUID()}`), 401, /not known/],
];

function typo(key: string): string {
  return `${key.slice(0, 10)}${key[10] === 'a' ? 'b' : 'a'}${key.slice(11)}`;
}

function preload(skill: string, key = 'good'): Promise<RawAnswer> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return send(`${platform.mcpUrl}?skillIds=${skill}`, { key: keys[key], body: rpc('initialize', params) });
}

function expectAnswer(answer: RawAnswer, status: number, says = anything): void {
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(says)]);
  if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  if (status >= 400) expect(answer.body.error).toMatchObject({ message: expect.any(String), hint: expect.any(String) });
}

describe('while the backend is there', () => {
  test.each<Row>([...rows, ...asked.slice(1)])('%s', async (_what, ask, status, says) => {
    expectAnswer(await ask(), status, says);
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
  beforeAll(async () => {
    for (const name of ['good', 'legacy', 'narrow', 'suspended']) await bare(`Bearer ${keys[name]}`);
    await platform.stopBackend();
  });
  afterAll(() => platform.startBackend());

  test('its address is closed, and the others answer', async () => {
    const { local } = platform.plan.addresses;
    await expect(fetch(`${local.backend}/health`)).rejects.toThrow();
    for (const url of [local['remote-mcp'], local.runtime]) expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test.each<Row>(rows)('%s', async (_what, ask, status, says) => {
    expectAnswer(await ask(), status, says);
  });

  test.each<Row>(asked)('%s', async (_what, ask) => {
    const answer = await ask();
    expectAnswer(answer, 503, /cannot be checked/);
    expect(answer.headers.get('retry-after')).toBe('1');
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
