import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSchema } from '../../services/backend/graphql/schema.ts';
import { type IdKind, newId } from '../../services/contracts/ids.ts';
import { graphqlPath } from '../../services/contracts/token.ts';
import { send } from '../../services/remote-mcp/test/raw.ts';
import type { BackendClient } from '../client/backend-client.ts';
import { addMemberMutation } from '../client/generated/operations.ts';
import { memberToken } from './adversary/member-token.ts';
import { type Arguments, placesOf, selectInFull, writeCall } from './graphql-walk.ts';
import { expectNothingOf, type Home, startTwoHomes, tracesOf } from './homes.ts';
import { type Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * Two workspaces hold objects of the same names. A member of A names objects of B wherever a request may, and learns
 * nothing, not even that they exist.
 */
const schema = createSchema();
let platform: Platform;
let backend: BackendClient;
let a: Home;
let b: Home;
let token: string;
/** The second member of each workspace. */
const members = new Map<string, string>();
const invitations = new Map<string, string>();
/** A tool of each workspace. */
const tools = new Map<string, string>();

const integrations = new Map<string, string>();

beforeAll(async () => {
  ({ platform, backend, a, b } = await startTwoHomes());
  token = await memberToken(platform.installation, `http://127.0.0.1:${platform.ports.backend}`, a.owner.email);
  // Two usage rows, members, invitations and integrations in each workspace, because a list needs several rows for paging.
  for (const home of [a, b]) {
    const input = { email: `${newId('user')}@second.example`, role: 'viewer' } as const;
    const { addMember } = await backend.send(addMemberMutation, { workspace: home.workspace, input });
    members.set(home.workspace, addMember.id);
    for (let i = 0; i < 2; i++) {
      const invited = `{ email: "${newId('user')}@x.example", role: viewer }`;
      const invite = `inviteMember(workspace: "${home.workspace}", input: ${invited}) { id }`;
      invitations.set(home.workspace, (await asOperator(`mutation { ${invite} }`)).inviteMember.id);
    }
    const listed = await asOperator(`{ workspace(id: "${home.workspace}") { tools(first: 1) { nodes { id } } } }`);
    tools.set(home.workspace, listed.workspace.tools.nodes[0].id);

    // remote-mcp, without a key, is an MCP server that needs a token.
    for (const name of ['first', 'second']) {
      const input = `{ name: "guarded-${name}", launch: { url: "${platform.mcpUrl}" } }`;
      await asOperator(`mutation { createMcpServer(workspace: "${home.workspace}", input: ${input}) { id } }`);
    }
    await until(async () => (await pageOf(home.workspace, 'integrations')).nodes === 2);
    const seen = await asOperator(`{ workspace(id: "${home.workspace}") { integrations { nodes { id } } } }`);
    integrations.set(home.workspace, seen.workspace.integrations.nodes[0].id);
    const agent = await platform.connect(home.same.keyText, `?skillIds=${home.same.skill}`);
    await Promise.all([agent.text('echo', { message: 'x' }), agent.text('get-env')]);
    await until(async () => (await pageOf(home.workspace, 'usage')).nodes === 2);
  }
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

/** Sends a query as the owner of A. */
async function ask(query: string) {
  const url = `http://127.0.0.1:${platform.ports.backend}${graphqlPath}`;
  const { body, text } = await send(url, { key: token, body: { query } });
  return { data: body.data, code: body.errors?.[0]?.extensions.code ?? null, text };
}

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
function asOperator(query: string): Promise<any> {
  return backend.send({ text: query }, {});
}

async function pageOf(workspace: string, field: string) {
  const seen = await asOperator(`{ workspace(id: "${workspace}") {
    all: ${field} { nodes { __typename } } one: ${field}(first: 1) { pageInfo { next } }
  } }`);
  return { nodes: seen.workspace.all.nodes.length as number, next: seen.workspace.one.pageInfo.next as string | null };
}

const rulesAbout = (mcpServer: string) => [{ effect: 'deny', mcpServer, tool: 'echo' }];

/** For each mutation of a workspace, arguments that name this workspace's objects. */
const named = ({ workspace, own, same }: Home): Readonly<Record<string, Arguments>> => ({
  updateWorkspace: { id: workspace, input: { name: 'Mine' } },
  createRole: { workspace, input: { name: 'r', skills: [same.skill], rules: rulesAbout(own) } },
  updateRole: { workspace, id: same.role, input: { skills: [same.skill], rules: rulesAbout(own) } },
  removeRole: { workspace, id: same.role },
  createSkill: { workspace, input: { name: 's', tools: [{ mcpServer: own, tool: 'echo' }] } },
  updateSkill: { workspace, id: same.skill, input: { tools: [{ mcpServer: own, tool: 'echo' }] } },
  addSkillFile: { workspace, skill: same.skill, input: { path: 'a', digest: 'a'.repeat(64), sizeBytes: 1 } },
  removeSkillFile: { workspace, skill: same.skill, path: 'a' },
  removeSkill: { workspace, id: same.skill },
  createToolToken: { workspace },
  createMcpServer: { workspace, input: { name: 'm', launch: { command: 'true' }, runtime: own } },
  updateMcpServer: { workspace, id: same.mcpServer, input: { runtime: own } },
  removeMcpServer: { workspace, id: same.mcpServer },
  restartMcpServer: { workspace, id: same.mcpServer },
  beginIntegration: { workspace, id: integrations.get(workspace) },
  finishIntegration: { answer: `code=x&state=${workspace}.${integrations.get(workspace)}.x` },
  updateIntegration: { workspace, id: integrations.get(workspace), input: { scopes: ['x'] } },
  disconnectIntegration: { workspace, id: integrations.get(workspace) },
  createKey: { workspace, input: { name: 'k', roles: [same.role] } },
  updateKey: { workspace, id: same.key, input: { roles: [same.role] } },
  rotateKey: { workspace, id: same.key },
  revokeKey: { workspace, key: same.key },
  registerRuntime: { workspace, name: 'same' },
  revokeRuntime: { workspace, id: same.runtime },
  inviteMember: { workspace, input: { email: 'x@y.example', role: 'viewer' } },
  withdrawInvitation: { workspace, id: invitations.get(workspace) },
  updateMember: { workspace, id: members.get(workspace), input: { role: 'editor' } },
  removeMember: { workspace, id: members.get(workspace), keysTo: members.get(workspace) },
});

/** The arguments of A with those of B at one place; in a list, behind those of A. */
function mixed(ours: unknown, theirs: unknown, [field, ...path]: readonly string[]): unknown {
  if (Array.isArray(ours) && Array.isArray(theirs)) return [...ours, ...theirs];
  if (field === undefined) return theirs;
  const [one, other] = [ours as Arguments, theirs as Arguments];
  return { ...one, [field]: mixed(one[field], other[field], path) };
}

function within(selection: string): string {
  return `workspace(id: "${a.workspace}") { ${selection} }`;
}

/** Places that this suite tests in another way, or that are harmless. */
const untried: readonly RegExp[] = [
  // Texts that are stored or compared and name nothing: two workspaces may use the same text.
  /^Mutation\.(create|update)\w+\(input\.(name|description|instructions|disclosure|ifName)\)$/,
  /^Mutation\.(create|update)Skill\(input\.tools\.tool\)$/,
  /^Mutation\.updateIntegration\(input\.(scopes|clientId|clientSecret)\)$/,
  /^Mutation\.(create|update)Role\(input\.(readOnly|rules\.(effect|tool))\)$/,
  // A state of the workspace's own MCP servers and integrations.
  /^Workspace\.(mcpServers\(failing\)|integrations\(state\))$/,
  // A word of a closed list, and an address, which names nothing of a workspace.
  /^Mutation\.(updateMember|inviteMember)(\(input\.(role|email)\))$/,
  /^UsageSummary\.largest\((by|order)\)$/,
  // The digest of a file of B gives no access: services/backend/test/files.test.ts.
  /^Mutation\.(addSkillFile\(input\.(path|digest|ifDigest)|removeSkillFile\((path|ifDigest))\)$/,
  // Ids that are compared with those of A, in a test below.
  /^Mutation\.\w+\(ifUsedBy\)$/,
  /^Mutation\.(create|update)McpServer\(input\.launch\..+\)$/,
  /^(Workspace\.launch(Fingerprint|Refusal)|McpServer\.changedSettings)\(launch\..+\)$/,
  // A name of an MCP server of the same workspace, and below the values of A are kept from B.
  /^Workspace\.launch(Fingerprint|Refusal)\(mcpServer\)$/,
  /^Mutation\.registerRuntime\(name\)$/,
  // Workspace B is tried with all its objects, in the row of the mutation itself.
  /^Mutation\.\w+\(workspace\)$/,
  // Roles are compared with those of the skills of A: in a test below.
  /^Workspace\.skills\(role\)$/,
  // The same for the runtimes of the MCP servers of A.
  /^Workspace\.mcpServers\(runtime\)$/,
  // Arguments of every list are tested below, with every list.
  /^(Query\.workspaces|Workspace\.\w+|McpServer\.tools)\((after|search)\)$/,
  // Operations for operators only: services/backend/test/rights.test.ts.
  /^(Query\.(platformRuntimes|identifyKey|mail)|Mutation\.(createSignInLink|removeWorkspace|registerSystemKey|importKey|addMember))(\(.+\))?$/,
  // A person's new workspace names nothing that exists: services/backend/test/members.test.ts.
  /^Mutation\.createWorkspace(\(input\.ownerEmail\))?$/,
  // Over WebSocket: services/backend/test/changes-feed.test.ts.
  /^Subscription\.(changes|runtimeStates)(\(workspace\))?$/,
  // Of the caller's own account, which belongs to no workspace: services/backend/test/{own-account,passwords,passkeys,sessions}.test.ts.
  /^Mutation\.(changeName|sendAddressLink|setPassword|beginPasskey|addPasskey|renamePasskey|removePasskey|endSession|endOtherSessions)(\(.+\))?$/,
  // These fields read everything, and name nothing.
  /^Query\.(viewer|workspace|workspaces)$/,
];
const places = placesOf(schema).filter((place) => !untried.some((one) => one.test(place)));

describe('over GraphQL', () => {
  let before: unknown;
  const stateOfB = () =>
    asOperator(
      `{ workspace(id: "${b.workspace}") { name suspended revision activity { nodes { id } } keys { nodes { name state } } } }`,
    );

  beforeAll(async () => {
    before = await stateOfB();
  });

  test.each(places.filter((place) => place.startsWith('Mutation.')))('%s', async (place) => {
    const [, name = '', path] = /^Mutation\.(\w+)(?:\((.+)\))?$/.exec(place) ?? [];
    const [ours, theirs] = [named(a)[name], named(b)[name]];
    const args = path === undefined ? theirs : mixed(ours, theirs, path.split('.'));
    const call = writeCall(schema, 'Mutation', name, args as Arguments);
    const { code, data, text } = await ask(`mutation { ${call} }`);
    expect([code, data?.[name] ?? null]).toEqual(['not_found', null]);
    expectNothingOf(b, text, call);
    const ofNothing = await ask(`mutation { ${aboutNothing(call)} }`);
    expect(withoutIds(text)).toBe(withoutIds(ofNothing.text));
  });

  test.each(places.filter((place) => !place.startsWith('Mutation.')))('%s finds nothing', async (place) => {
    const [, type = '', field = '', arg = ''] = /^(\w+)\.(\w+)\((\w+)\)$/.exec(place) ?? [];
    const ids: Readonly<Record<string, string>> = {
      ...namedIds(),
      ...{ workspace: b.workspace, tool: tools.get(b.workspace) ?? '' },
    };
    const value = { id: ids[field], name: field === 'workspace' ? b.name : b.own }[arg];
    const found = `found: ${writeCall(schema, type, field, { [arg]: value })}`;
    const { data, code, text } = await ask(`{ ${type === 'Query' ? found : within(found)} }`);
    expect([code, data?.found ?? data?.workspace?.found ?? null]).toEqual([null, null]);
    expectNothingOf(b, text);
  });

  test.each([
    ['removeSkill', 'skill', 'role'],
    ['removeRole', 'role', 'key'],
    ['removeMcpServer', 'mcpServer', 'skill'],
    ['revokeRuntime', 'runtime', 'mcpServer'],
  ] as const)('%s knows no object of B among those that it may take from', async (name, kind, other) => {
    const at = `workspace: "${a.workspace}"`;
    if (name === 'removeRole') {
      await asOperator(`mutation { createKey(${at}, input: { name: "k", roles: ["${a.same.role}"] }) { secret } }`);
    }
    if (name === 'revokeRuntime') {
      const input = 'name: "bound", runtime: "same", launch: { command: "true" }';
      await asOperator(`mutation { createMcpServer(${at}, input: { ${input} }) { id } }`);
    }
    const answers = [];
    for (const seen of [b.same[other], newId(other)]) {
      const call = `${name}(${at}, id: "${a.same[kind]}", ifUsedBy: ["${seen}"])`;
      const { code, text } = await ask(`mutation { ${call} }`);
      expect(code).toBe('conflict');
      expectNothingOf(b, text, call);
      answers.push(withoutIds(text));
    }
    expect(answers[0]).toBe(answers[1]);
  });

  test('a launch keeps no value of B', async () => {
    const env = 'launch: { command: "true", env: [{ name: "MARK" }] }';
    const answers = [];
    for (const field of ['launchFingerprint', 'launchRefusal']) {
      for (const name of [b.own, 'nothing']) {
        const { code, text } = await ask(`{ ${within(`${field}(${env}, mcpServer: ${JSON.stringify(name)})`)} }`);
        expectNothingOf(b, text, field);
        answers.push(code);
      }
    }
    expect(answers).toEqual(Array(4).fill('invalid_input'));
  });

  test('a filter by a role of B finds nothing', async () => {
    const { data, code, text } = await ask(`{ ${within(`skills(role: "${b.same.role}") { nodes { id } }`)} }`);
    expect([code, data.workspace.skills.nodes]).toEqual([null, []]);
    expectNothingOf(b, text);
  });

  test('a filter by a runtime of B finds nothing', async () => {
    const { data, code, text } = await ask(
      `{ ${within(`mcpServers(runtime: "${b.same.runtime}") { nodes { id } }`)} }`,
    );
    expect([code, data.workspace.mcpServers.nodes]).toEqual([null, []]);
    expectNothingOf(b, text);
  });

  test('operations of operators are refused to everybody else', async () => {
    expect((await ask('{ platformRuntimes { nodes { id } } }')).code).toBe('forbidden');
    expect((await ask('{ mail { waiting lastError } }')).code).toBe('forbidden');
    expect((await ask(`{ identifyKey(secret: "${b.same.keyText}") { key { id } } }`)).code).toBe('forbidden');
  });

  /** Fields of a workspace with this argument. */
  function taking(arg: string): readonly string[] {
    const pattern = new RegExp(`^Workspace\\.(\\w+)\\(${arg}\\)$`);
    return placesOf(schema).flatMap((place) => pattern.exec(place)?.[1] ?? []);
  }

  test('a list continued at a cursor of B shows A only', async () => {
    expect(taking('after').length).toBeGreaterThan(5);
    const selections = selectInFull(schema, 'Workspace', 1);
    for (const field of taking('after')) {
      const { nodes, next } = await pageOf(b.workspace, field);
      expect([field, nodes > 1, next]).toEqual([field, true, expect.any(String)]);
      const after = `after: ${JSON.stringify(next)}`;
      const tools = `mcpServer(name: "same") { tools(${after}) { nodes { mcpServer { id } } } }`;
      for (const paged of [selections[field]?.replace('first: 5', after) ?? '', tools]) {
        expectNothingOf(b, (await ask(`{ ${within(paged)} }`)).text, paged);
      }
    }
    const { workspaces } = await asOperator('{ workspaces(first: 1) { pageInfo { next } } }');
    const after = JSON.stringify(workspaces.pageInfo.next);
    expectNothingOf(b, (await ask(`{ workspaces(after: ${after}) { nodes { id name } } }`)).text, after);
  });

  test('a search finds nothing of B', async () => {
    expect(taking('search').length).toBeGreaterThan(3);
    for (const field of taking('search')) {
      const search = async (word: string) => {
        // The own keys are a list without pages.
        const nodes = field === 'ownKeys' ? '{ __typename }' : '{ nodes { __typename } }';
        const { found } = (await ask(`{ ${within(`found: ${field}(search: "${word}") ${nodes}`)} }`)).data.workspace;
        return (found.nodes ?? found).length;
      };
      const wordOf = (home: Home) => (field === 'members' ? home.owner.email : home.own);
      expect([field, await search(wordOf(b)), (await search(wordOf(a))) > 0]).toEqual([field, 0, field !== 'tools']);
    }
    const { data } = await ask('{ workspaces(search: "Home") { nodes { id } } }');
    expect(data.workspaces.nodes).toEqual([{ id: a.workspace }]);
  });

  test('all that can be read, read in full, holds A and nothing of B', async () => {
    const queries = (home: Home) =>
      Object.values(selectInFull(schema, 'Workspace', depth)).map(
        (one) => `workspace(id: "${home.workspace}") { ${one} }`,
      );
    const { viewer = '', workspaces = '' } = selectInFull(schema, 'Query', depth - 1);
    let read = '';
    for (const query of [...queries(a), viewer, workspaces]) {
      const { code, text } = await ask(`{ ${query} }`);
      expect([query, code]).toEqual([query, null]);
      read += text;
    }
    expectNothingOf(b, read);
    expect(read).toContain(a.mark);
    // The same questions find B's objects when an authorised user asks them.
    let all = '';
    for (const query of queries(b)) all += JSON.stringify(await asOperator(`{ ${query} }`));
    for (const trace of tracesOf(b)) expect(all).toContain(trace);
  });

  test('and nothing that was tried has changed anything of B', async () => {
    expect(await stateOfB()).toEqual(before);
  });
});

/** Levels of objects to read: a skill's tools' MCP servers' runtimes. */
const depth = 4;

/** The same request about objects that do not exist, which must get the same answer word for word. */
function aboutNothing(call: string): string {
  const unknown = call.replaceAll(b.workspace, newId('workspace'));
  return Object.entries(namedIds()).reduce((text, [kind, id]) => text.replaceAll(id, newId(kind as IdKind)), unknown);
}

/** Ids of B by their kinds. */
function namedIds(): Readonly<Record<string, string>> {
  return { ...b.same, integration: integrations.get(b.workspace) ?? '' };
}

function withoutIds(text: string): string {
  return text.replaceAll(/[a-z]{3}_[0-9A-Za-z]{24}/g, 'ID').replace(/"request":"[^"]+"/, '');
}
