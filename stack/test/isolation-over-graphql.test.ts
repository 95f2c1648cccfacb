import { readFileSync } from 'node:fs';
import { buildClientSchema, extendSchema, type GraphQLSchema, getIntrospectionQuery, parse } from 'graphql';
import { importPKCS8, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type IdKind, newId } from '../../services/contracts/ids.ts';
import { graphqlPath, tokenAudience, tokenKindClaim } from '../../services/contracts/token.ts';
import { send } from '../../services/remote-mcp/test/raw.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { type Arguments, fieldsOf, pagedFieldsOf, placesOf, selectInFull, writeCall } from './graphql-walk.ts';
import { expectNothingOf, type Home, startTwoHomes, tracesOf } from './homes.ts';
import { type Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * Two workspaces with same-named everything. Whoever belongs to A, with a token or a key, puts what belongs to B wherever a request may
 * name something, and learns nothing: not even that it exists.
 */
let platform: Platform;
let backend: BackendClient;
let schema: GraphQLSchema;
let a: Home;
let b: Home;
let token: string;

beforeAll(async () => {
  ({ platform, backend, a, b } = await startTwoHomes());
  token = await tokenOf(a.owner.id);
  schema = buildClientSchema((await ask(getIntrospectionQuery())).data);
  // Two rows of usage in each workspace, so that there is something to page through.
  for (const home of [a, b]) {
    const agent = await platform.connect(home.same.keyText, `?skillIds=${home.same.skill}`);
    await Promise.all([agent.text('echo', { message: 'x' }), agent.text('get-env')]);
    await until(async () => (await pageOf(home.workspace, 'usage')).nodes === 2);
  }
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

/** A token of a person, as the backend would issue it to a browser. */
async function tokenOf(user: string): Promise<string> {
  const { jwtPrivateKey } = secretFilesOf(platform.installation);
  const key = await importPKCS8(readFileSync(jwtPrivateKey, 'utf8'), 'EdDSA');
  return new SignJWT({ iss: 'service-platform', aud: tokenAudience, sub: user, [tokenKindClaim]: 'session' })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setExpirationTime('1h')
    .sign(key);
}

/** As the owner of A. */
async function ask(query: string) {
  const url = `http://127.0.0.1:${platform.ports.backend}${graphqlPath}`;
  const { body, text } = await send(url, { key: token, body: { query } });
  return { data: body.data, code: body.errors?.[0]?.extensions.code ?? null, message: body.errors?.[0]?.message, text };
}

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
function asOperator(query: string): Promise<any> {
  return backend.query(query, {}, (data) => data);
}

async function pageOf(workspace: string, field: string) {
  const seen = await asOperator(`{ workspace(id: "${workspace}") {
    all: ${field} { nodes { __typename } } one: ${field}(first: 1) { pageInfo { next } }
  } }`);
  return { nodes: seen.workspace.all.nodes.length as number, next: seen.workspace.one.pageInfo.next as string | null };
}

const expectNothingOfB = (text: string, question?: string) => expectNothingOf(b, text, question);

const inA = (args: Arguments): Arguments => ({ workspace: a.workspace, ...args });
const inB = (args: Arguments): Arguments => ({ workspace: b.workspace, ...args });
const aFile = { path: 'a', digest: 'a'.repeat(64), sizeBytes: 1 };

/** A's owner puts something of B, or the name that only B has, into this argument of this mutation, and it is not found. */
const notFound: Readonly<Record<string, () => Arguments>> = {
  'updateWorkspace(id)': () => ({ id: b.workspace, input: { name: 'Mine' } }),
  'createRole(workspace)': () => inB({ input: { name: 'r' } }),
  'createRole(input.skills)': () => inA({ input: { name: 'r', skills: [b.same.skill] } }),
  'updateRole(workspace)': () => inB({ id: b.same.role, input: { name: 'r' } }),
  'updateRole(id)': () => inA({ id: b.same.role, input: { name: 'r' } }),
  'updateRole(input.skills)': () => inA({ id: a.same.role, input: { skills: [a.same.skill, b.same.skill] } }),
  'removeRole(workspace)': () => inB({ id: b.same.role }),
  'removeRole(id)': () => inA({ id: b.same.role }),
  'createSkill(workspace)': () => inB({ input: { name: 's' } }),
  'createSkill(input.tools.mcpServer)': () =>
    inA({ input: { name: 's', tools: [{ mcpServer: b.own, tool: 'echo' }] } }),
  'updateSkill(workspace)': () => inB({ id: b.same.skill, input: { name: 's' } }),
  'updateSkill(id)': () => inA({ id: b.same.skill, input: { name: 's' } }),
  'updateSkill(input.tools.mcpServer)': () =>
    inA({ id: a.same.skill, input: { tools: [{ mcpServer: b.own, tool: 'echo' }] } }),
  'addSkillFile(workspace)': () => inB({ skill: b.same.skill, input: aFile }),
  'addSkillFile(skill)': () => inA({ skill: b.same.skill, input: aFile }),
  'removeSkillFile(workspace)': () => inB({ skill: b.same.skill, path: 'a' }),
  'removeSkillFile(skill)': () => inA({ skill: b.same.skill, path: 'a' }),
  'removeSkillFile(path)': () => inA({ skill: a.same.skill, path: 'a' }),
  'removeSkill(workspace)': () => inB({ id: b.same.skill }),
  'removeSkill(id)': () => inA({ id: b.same.skill }),
  'createMcpServer(workspace)': () => inB({ input: { name: 'm', launch: { command: 'true' } } }),
  'createMcpServer(input.runtime)': () => inA({ input: { name: 'm', launch: { command: 'true' }, runtime: b.own } }),
  'updateMcpServer(workspace)': () => inB({ id: b.same.mcpServer, input: { enabled: false } }),
  'updateMcpServer(id)': () => inA({ id: b.same.mcpServer, input: { enabled: false } }),
  'updateMcpServer(input.runtime)': () => inA({ id: a.same.mcpServer, input: { runtime: b.own } }),
  'removeMcpServer(workspace)': () => inB({ id: b.same.mcpServer }),
  'removeMcpServer(id)': () => inA({ id: b.same.mcpServer }),
  'restartMcpServer(workspace)': () => inB({ id: b.same.mcpServer }),
  'restartMcpServer(id)': () => inA({ id: b.same.mcpServer }),
  'createKey(workspace)': () => inB({ input: { name: 'k' } }),
  'createKey(input.roles)': () => inA({ input: { name: 'k', roles: [b.same.role] } }),
  'revokeKey(workspace)': () => inB({ key: 'same' }),
  'revokeKey(key)': () => inA({ key: b.same.key }),
  'registerRuntime(workspace)': () => inB({ name: 'same' }),
  'revokeRuntime(workspace)': () => inB({ id: b.same.runtime }),
  'revokeRuntime(id)': () => inA({ id: b.same.runtime }),
};

/** Mutations of the whole platform, which members of a workspace may not use. */
const forbidden: Readonly<Record<string, () => Arguments>> = {
  createWorkspace: () => ({ input: { name: b.name, ownerEmail: a.owner.email } }),
  registerSystemKey: () => ({ input: { component: 'remote-mcp', key: 'x' } }),
};

/** Look-ups: an id, or a name that only B has, finds nothing. */
const lookups: Readonly<Record<string, () => string>> = {
  'Query.workspace(id)': () => `found: workspace(id: "${b.workspace}") { id }`,
  'Query.workspace(name)': () => `found: workspace(name: "${b.name}") { id }`,
  'Workspace.role(id)': () => within(`found: role(id: "${b.same.role}") { id }`),
  'Workspace.role(name)': () => within(`found: role(name: "${b.own}") { id }`),
  'Workspace.skill(id)': () => within(`found: skill(id: "${b.same.skill}") { id }`),
  'Workspace.skill(name)': () => within(`found: skill(name: "${b.own}") { id }`),
  'Workspace.mcpServer(id)': () => within(`found: mcpServer(id: "${b.same.mcpServer}") { id }`),
  'Workspace.mcpServer(name)': () => within(`found: mcpServer(name: "${b.own}") { id }`),
};

function within(selection: string): string {
  return `workspace(id: "${a.workspace}") { ${selection} }`;
}

/** Texts that are stored or compared and name nothing: two workspaces may say the same. */
const texts: readonly RegExp[] = [
  /^Mutation\.(create|update)\w+\(input\.(name|description|instructions)\)$/,
  /^Mutation\.(create|update)Skill\(input\.tools\.tool\)$/,
  // Who knows the digest of what B has gets nothing by it: services/backend/test/files.test.ts.
  /^Mutation\.addSkillFile\(input\.(path|digest)\)$/,
  /^Mutation\.(create|update)McpServer\(input\.launch\..+\)$/,
  /^Workspace\.launch(Fingerprint|Refusal)\(launch\..+\)$/,
  /^Mutation\.registerRuntime\(name\)$/,
];

/** What every list takes is tried with every list that there is; what only operators may, in any way. */
const ofLists = /^(Query\.workspaces|Workspace\.\w+|McpServer\.tools)\((after|search)\)$/;
const ofOperators = /^(Query\.platformRuntimes|Mutation\.(createWorkspace|registerSystemKey))(\(.+\))?$/;

/** Where everything is read, instead of something named. */
const readInFull = ['Query.viewer', 'Query.workspaces'];
const tried: ReadonlySet<string> = new Set([
  ...Object.keys({ ...notFound, ...forbidden }).map((place) => `Mutation.${place}`),
  ...Object.keys(lookups),
  ...readInFull,
]);

/** Places of a schema that nothing here tries. A field of Query or Mutation is tried where one of its arguments is. */
function unlisted(of: GraphQLSchema): readonly string[] {
  const byArgument = new Set([...tried].map((place) => place.replace(/\(.*/, '')));
  return placesOf(of).filter(
    (place) =>
      !tried.has(place) && !byArgument.has(place) && ![...texts, ofLists, ofOperators].some((one) => one.test(place)),
  );
}

describe('over GraphQL', () => {
  let before: unknown;
  const stateOfB = () =>
    asOperator(
      `{ workspace(id: "${b.workspace}") { name suspended revision activity { nodes { id } } keys { nodes { name state } } } }`,
    );

  beforeAll(async () => {
    before = await stateOfB();
  });

  test('every field of Query and Mutation, and every id and text that a field takes, is listed here', () => {
    expect(unlisted(schema)).toEqual([]);
    const places = new Set(placesOf(schema));
    expect([...tried].filter((place) => !places.has(place))).toEqual([]);
  });

  test('and an unlisted one is noticed', () => {
    const grown = extendSchema(
      schema,
      parse(`
        extend type Query { everything: String }
        extend type Mutation { takeOver(workspace: ID!): Boolean }
        extend type Skill { sibling(name: String): Skill }
        extend input RoleInput { parent: ID }
      `),
    );
    expect(unlisted(grown).toSorted()).toEqual([
      'Mutation.createRole(input.parent)',
      'Mutation.takeOver',
      'Mutation.takeOver(workspace)',
      'Query.everything',
      'Skill.sibling(name)',
    ]);
  });

  const isRefused = async (place: string, args: () => Arguments, code: string) => {
    const name = place.replace(/\(.*/, '');
    const call = writeCall(schema, 'Mutation', name, args());
    const answer = await ask(`mutation { ${call} }`);
    expect([answer.code, answer.data?.[name] ?? null]).toEqual([code, null]);
    expectNothingOfB(answer.text, call);
    return { call, answer };
  };

  test.each(Object.entries(notFound))('%s', async (place, args) => {
    const { call, answer } = await isRefused(place, args, 'not_found');
    const ofNothing = await ask(`mutation { ${aboutNothing(call)} }`);
    expect(withoutIds(answer.text)).toBe(withoutIds(ofNothing.text));
  });

  test.each(Object.entries(forbidden))('%s', async (name, args) => {
    await isRefused(name, args, 'forbidden');
  });

  test.each(Object.entries(lookups))('%s finds nothing', async (_place, query) => {
    const { data, code, text } = await ask(`{ ${query()} }`);
    expect([code, data.found ?? data.workspace?.found ?? null]).toEqual([null, null]);
    expectNothingOfB(text);
  });

  test("a name in both workspaces means the caller's own", async () => {
    const names = ['role', 'skill', 'mcpServer'].map((field) => `${field}(name: "same") { id }`);
    expect((await ask(`{ ${within(names.join(' '))} }`)).data.workspace).toEqual({
      role: { id: a.same.role },
      skill: { id: a.same.skill },
      mcpServer: { id: a.same.mcpServer },
    });
  });

  test('operations of operators are refused to everybody else', async () => {
    expect((await ask('{ platformRuntimes { nodes { id } } }')).code).toBe('forbidden');
  });

  test('a list continued at a cursor of B shows A only', async () => {
    const fields = pagedFieldsOf(schema, 'Workspace');
    expect(fields.length).toBeGreaterThan(5);
    for (const field of fields) {
      const { nodes, next } = await pageOf(b.workspace, field);
      expect([field, nodes > 1, next]).toEqual([field, true, expect.any(String)]);
      const paged = selectInFull(schema, 'Workspace', field, 1).replace(
        '(first: 5)',
        `(after: ${JSON.stringify(next)})`,
      );
      expectNothingOfB((await ask(`{ ${within(paged)} }`)).text, paged);
      const tools = `mcpServer(name: "same") { tools(after: ${JSON.stringify(next)}) { nodes { mcpServer { id } } } }`;
      expectNothingOfB((await ask(`{ ${within(tools)} }`)).text, tools);
    }
    const { workspaces } = await asOperator('{ workspaces(first: 1) { pageInfo { next } } }');
    const after = JSON.stringify(workspaces.pageInfo.next);
    expectNothingOfB((await ask(`{ workspaces(after: ${after}) { nodes { id name } } }`)).text, after);
  });

  test('a search finds nothing of B', async () => {
    const fields = placesOf(schema).flatMap((place) => /^Workspace\.(\w+)\(search\)$/.exec(place)?.[1] ?? []);
    expect(fields.length).toBeGreaterThan(3);
    for (const field of fields) {
      const search = async (word: string) => {
        const { data } = await ask(`{ ${within(`found: ${field}(search: "${word}") { nodes { __typename } }`)} }`);
        return data.workspace.found.nodes.length;
      };
      expect([field, await search(b.own), (await search(a.own)) > 0]).toEqual([field, 0, field !== 'tools']);
    }
    const { data } = await ask('{ workspaces(search: "Home") { nodes { id } } }');
    expect(data.workspaces.nodes).toEqual([{ id: a.workspace }]);
  });

  test('all that can be read, read in full, holds A and nothing of B', async () => {
    const fields = fieldsOf(schema, 'Workspace').map((field) => selectInFull(schema, 'Workspace', field, depth));
    const queries = (home: Home) =>
      fields.filter((one) => one !== '').map((one) => `{ workspace(id: "${home.workspace}") { ${one} } }`);
    const roots = ['viewer', 'workspaces'].map((field) => `{ ${selectInFull(schema, 'Query', field, depth - 1)} }`);
    let read = '';
    for (const query of [...queries(a), ...roots]) {
      const { code, text } = await ask(query);
      expect([query, code]).toEqual([query, null]);
      read += text;
    }
    expectNothingOfB(read);
    expect(read).toContain(a.mark);
    // The same questions, asked by one who may, do find what is B's.
    let all = '';
    for (const query of queries(b)) all += JSON.stringify(await asOperator(query));
    for (const trace of tracesOf(b)) expect(all).toContain(trace);
  });

  test('and nothing that was tried has changed anything of B', async () => {
    expect(await stateOfB()).toEqual(before);
  });
});

/** How deep everything is read: a skill's tools' MCP servers' runtimes. */
const depth = 4;

/** The same request about what exists nowhere, which must be answered in the same words. */
function aboutNothing(call: string): string {
  const unknown = call.replaceAll(b.workspace, newId('workspace'));
  return Object.entries(b.same).reduce((text, [kind, id]) => text.replaceAll(id, newId(kind as IdKind)), unknown);
}

function withoutIds(text: string): string {
  return text.replaceAll(/[a-z]{3}_[0-9A-Za-z]{24}/g, 'ID').replace(/"request":"[^"]+"/, '');
}

test('a catalogue is for remote-mcp alone, and no key of an agent is a token', async () => {
  const base = `http://127.0.0.1:${platform.ports.backend}`;
  const agentKeys = [a.same.keyText, b.same.keyText, `WSK_${a.same.keyText.slice(4)}`];
  for (const key of [token, ...agentKeys]) {
    const answer = await send(`${base}/internal/catalogue/${b.workspace}`, { method: 'GET', key });
    expect(answer.status).toBe(401);
    expectNothingOfB(answer.text);
  }
  const body = { query: '{ viewer { id } }' };
  for (const key of agentKeys) expect((await send(`${base}${graphqlPath}`, { key, body })).status).toBe(401);
});
