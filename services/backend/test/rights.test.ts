import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { memberKeyOf, newId, parseId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { type MemberRole, memberRoles } from '../../contracts/member-roles.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { createSchema } from '../graphql/schema.ts';
import { noteNeed } from '../integrations/note-need.ts';
import type { Right } from '../members/access.ts';
import { ensureUser } from '../members/users.ts';
import { Authenticator } from './authenticator.ts';
import { type ProtectedMcpServer, startProtectedMcpServer } from './protected-mcp-server.ts';
import { type Answer, startTestBackend, type TestBackend } from './start-test-backend.ts';
import { connectCloudRuntime, type TestRuntime } from './test-runtime.ts';

let backend: TestBackend;
let provider: ProtectedMcpServer;
let cloud: TestRuntime;
let home: Home;
let away: Home;
const tokens = new Map<string, string>();

/** A workspace with one object of each kind. */
interface Home {
  readonly workspace: WorkspaceId;
  readonly role: string;
  readonly skill: string;
  readonly server: string;
  readonly integration: string;
  readonly key: string;
  readonly runtime: string;
  readonly member: string;
}

beforeAll(async () => {
  provider = await startProtectedMcpServer({ redirectUri: 'http://localhost:8888/oauth/callback' });
  backend = await startTestBackend({ MCP_SERVER_ALLOWED_ADDRESSES: '127.0.0.0/8' });
  cloud = await connectCloudRuntime(backend);
  home = await addHome('Home');
  away = await addHome('Away');
  for (const role of memberRoles) tokens.set(role, (await backend.addMember(home.workspace, role)).token);
  tokens.set('operator', await backend.operatorToken());
  tokens.set('stranger', (await backend.addMember(away.workspace, 'owner')).token);
  tokens.set('removed', await memberWho('remove'));
  tokens.set('suspended', await memberWho('suspend'));
});
afterAll(async () => {
  await cloud.bus.close();
  await backend.stop();
  await provider.stop();
});

/** The token of a person who was an owner of the workspace, and is suspended or no longer a member. */
async function memberWho(fate: 'suspend' | 'remove'): Promise<string> {
  const { user, token } = await backend.addMember(home.workspace, 'owner');
  const member = await backend.withGraph((graph) => graph.findBy('member', { user }, home.workspace));
  const does = {
    suspend: 'updateMember(workspace: $w, id: $id, input: { suspended: true }) { id }',
    remove: 'removeMember(workspace: $w, id: $id)',
  };
  await backend.must(`mutation ($w: ID!, $id: ID!) { ${does[fate]} }`, { w: home.workspace, id: member?.id });
  return token;
}

/** The token of a new person, because creating a workspace makes a member of one. */
async function newcomer(): Promise<string> {
  const email = `${fresh()}@example.com`;
  const user = await backend.withGraph((graph) => graph.write((transaction) => ensureUser(transaction, email)));
  return await backend.userToken(user.id);
}

async function addHome(name: string): Promise<Home> {
  const { createWorkspace } = await backend.must(
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "owner@localhost" }) { id } }',
    { name },
  );
  const made = await backend.must(
    `mutation ($w: ID!) {
      createRole(workspace: $w, input: { name: "same" }) { id }
      createSkill(workspace: $w, input: { name: "same" }) { id }
      createMcpServer(workspace: $w, input: { name: "same", launch: { command: "same" } }) { id }
      createKey(workspace: $w, input: { name: "same" }) { key { id } }
      registerRuntime(workspace: $w, name: "same") { runtime { id } }
      addMember(workspace: $w, input: { email: "same@example.com", role: viewer }) { id }
    }`,
    { w: createWorkspace.id },
  );
  return {
    workspace: createWorkspace.id,
    role: made.createRole.id,
    skill: made.createSkill.id,
    server: made.createMcpServer.id,
    integration: await newIntegration(createWorkspace),
    key: made.createKey.key.id,
    runtime: made.registerRuntime.runtime.id,
    member: made.addMember.id,
  };
}

/** The integration of a new MCP server that has answered 401. */
async function newIntegration({ id: w }: { readonly id: WorkspaceId }): Promise<string> {
  const { createMcpServer } = await backend.must(
    'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }',
    { w, input: { name: fresh(), launch: { url: provider.url } } },
  );
  const mcpServer = parseId('mcpServer', createMcpServer.id);
  const reason = { code: 'needs_authorization', message: '', repair: '', challenge: { scope: 'files:read' } };
  return await backend.withGraph(async (graph) => {
    const server = await graph.find('mcpServer', mcpServer, w);
    if (server !== null) await graph.write((transaction) => noteNeed(transaction, server, reason));
    return (await graph.findBy('integration', { mcpServer }, w))?.id ?? '';
  });
}

interface Row {
  /** `anyone`: also operators. `self`: every person for the own account, and no operator. */
  readonly right: Right | 'anyone' | 'self';
  /** What an operator gets where only people in a browser may: it needs their session. */
  readonly toOperators?: 'forbidden' | 'unsupported';
  /** Whoever is no member gets null, as from a workspace that does not exist. */
  readonly isRead?: true;
  /** Each row acts on a new node, created by an operator, so that every role meets the same state. */
  readonly ask: (at: Home, token: string | undefined) => Promise<Answer>;
}

let count = 0;
const fresh = () => `n-${++count}`;
const ask = (query: string, variables: object, token: string | undefined) =>
  backend.ask({ query, variables: { ...variables }, token });

function offerFile(at: Home, path: string, token: string | undefined): Promise<Answer> {
  const digest = createHash('sha256').update('x').digest('hex');
  const input = { path, digest, sizeBytes: 1 };
  const query =
    'mutation ($w: ID!, $s: ID!, $input: SkillFileInput!) { addSkillFile(workspace: $w, skill: $s, input: $input) { url } }';
  return ask(query, { w: at.workspace, s: at.skill, input }, token);
}

async function newMember({ workspace: w }: Home): Promise<string> {
  const query =
    'mutation ($w: ID!, $e: String!) { addMember(workspace: $w, input: { email: $e, role: viewer }) { id } }';
  return (await backend.must(query, { w, e: `${fresh()}@example.com` })).addMember.id;
}

/** The id of a new passkey of this person, or null for an operator. */
async function newPasskey(token: string | undefined): Promise<string | null> {
  return (await rows.addPasskey?.ask(home, token))?.data?.addPasskey?.id ?? null;
}

/** Reads a field of the workspace. */
function reading(right: Right, field: string | ((at: Home) => string)): Row {
  return {
    ...{ right, isRead: true },
    ask: (at, token) => {
      const selection = typeof field === 'string' ? field : field(at);
      return ask(`query ($w: ID!) { workspace(id: $w) { ${selection} } }`, { w: at.workspace }, token);
    },
  };
}

/** The first answer to a subscription, or the refusal of the socket. */
async function follow(query: string, variables: object, token: string | undefined): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(backend.url.replace('http', 'ws') + graphqlPath, 'graphql-transport-ws', { headers });
  const answer = { status: 101, headers: new Headers(), data: null, errors: [], code: null };
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the socket closed without an answer')));
  socket.on('unexpected-response', async (_request, response: IncomingMessage) => {
    const { error } = (await json(response)) as { error: { code: string } };
    resolve({ ...answer, status: response.statusCode ?? 0, code: error.code });
  });
  const say = (message: object) => socket.send(JSON.stringify(message));
  socket.on('open', () => say({ type: 'connection_init' }));
  socket.on('message', (text) => {
    const { type, payload } = JSON.parse(String(text));
    if (type === 'connection_ack') say({ type: 'subscribe', id: '1', payload: { query, variables } });
    const { data = null, errors = [] } = type === 'error' ? { errors: payload } : (payload ?? {});
    if (type === 'next' || type === 'error')
      resolve({ ...answer, data, errors, code: errors[0]?.extensions.code ?? null });
  });
  return await promise.finally(() => socket.terminate());
}

const beginQuery = 'mutation ($w: ID!, $id: ID!) { beginIntegration(workspace: $w, id: $id) }';
const launch = { command: 'node', env: [{ name: 'A', value: 'b' }] };
/** Each mutation by its name, and each field of the other roots and of the workspace, which is the root of most reads. */
const rows: Readonly<Record<string, Row>> = {
  'Query.viewer': {
    right: 'anyone',
    ask: (_at, token) =>
      ask('{ viewer { kind id email memberships { id role workspace { id } } sessions { id } } }', {}, token),
  },
  'Query.workspaces': { right: 'anyone', ask: (_at, token) => ask('{ workspaces { nodes { id } } }', {}, token) },
  'Query.workspace': reading('read', 'id'),
  'Query.platformRuntimes': {
    right: 'operate',
    ask: (_at, token) => ask('{ platformRuntimes { nodes { id } } }', {}, token),
  },
  'Query.identifyKey': {
    right: 'operate',
    ask: (_at, token) => ask('{ identifyKey(secret: "SVA_x") { key { id } } }', {}, token),
  },
  'Query.mail': { right: 'operate', ask: (_at, token) => ask('{ mail { waiting lastError } }', {}, token) },
  'Subscription.changes': {
    ...{ right: 'read', toOperators: 'unsupported' },
    ask: (at, token) => follow('subscription ($w: ID) { changes(workspace: $w) { kind } }', { w: at.workspace }, token),
  },
  'Subscription.runtimeStates': {
    ...{ right: 'read', toOperators: 'unsupported' },
    ask: async (at, token) => {
      const beating = setInterval(() => cloud.beat(5000), 20);
      try {
        return await follow(
          'subscription ($w: ID!) { runtimeStates(workspace: $w) { id } }',
          { w: at.workspace },
          token,
        );
      } finally {
        clearInterval(beating);
      }
    },
  },
  'Workspace.id': reading('read', 'id'),
  'Workspace.name': reading('read', 'name'),
  'Workspace.suspended': reading('read', 'suspended'),
  'Workspace.revision': reading('read', 'revision'),
  'Workspace.statusRevision': reading('read', 'statusRevision'),
  'Workspace.createdAt': reading('read', 'createdAt'),
  'Workspace.owner': reading('read', 'owner { id email }'),
  'Workspace.members': reading('administer', 'members { nodes { id person { email } keys { id } } }'),
  'Workspace.invitations': reading('administer', 'invitations { nodes { id email } }'),
  'Workspace.roles': reading('read', 'roles { nodes { id } }'),
  'Workspace.role': reading('read', ({ role }) => `role(id: "${role}") { id rules { tool } }`),
  'Workspace.skills': reading('read', 'skills { nodes { id instructions } }'),
  'Workspace.skill': reading('read', ({ skill }) => `skill(id: "${skill}") { id files { path } }`),
  'Workspace.mcpServers': reading('read', 'mcpServers { nodes { id } }'),
  'Workspace.mcpServer': reading('read', ({ server }) => `mcpServer(id: "${server}") { id }`),
  'Workspace.launchFingerprint': reading('administer', 'launchFingerprint(launch: { command: "x" })'),
  'Workspace.launchRefusal': reading('administer', 'launchRefusal(launch: { command: "x" })'),
  'Workspace.tool': reading('read', () => `tool(id: "${newId('tool')}") { id }`),
  'Workspace.tools': reading('read', 'tools { nodes { id } }'),
  'Workspace.keys': reading('administer', 'keys { nodes { id name } }'),
  'Workspace.ownKeys': reading('read', 'ownKeys { id name }'),
  'Workspace.runtimes': reading('read', 'runtimes { nodes { id name } }'),
  'Workspace.platformRuntimes': reading('read', 'platformRuntimes { id name }'),
  'Workspace.busServers': reading('administer', 'busServers'),
  'Workspace.usage': reading('read', 'usage { nodes { calls } }'),
  'Workspace.usageSummary': reading('read', 'usageSummary(from: 0, to: 1) { calls }'),
  'Workspace.activity': reading('read', 'activity { nodes { id actorName } }'),
  'Workspace.integrations': reading('read', 'integrations { nodes { id } }'),
  'Workspace.integration': reading('read', ({ integration }) => `integration(id: "${integration}") { id }`),
  'Role.keys': reading('administer', ({ role }) => `role(id: "${role}") { keys { id name } }`),
  createSignInLink: {
    right: 'operate',
    ask: (_at, token) => ask('mutation { createSignInLink(email: "owner@localhost") { expiresAt } }', {}, token),
  },
  changeName: {
    right: 'self',
    ask: (_at, token) => ask('mutation { changeName(name: "Ann") { id } }', {}, token),
  },
  sendAddressLink: {
    right: 'self',
    ask: (_at, token) =>
      ask('mutation ($e: String!) { sendAddressLink(email: $e) }', { e: `${fresh()}@example.com` }, token),
  },
  setPassword: {
    right: 'self',
    ask: (_at, token) => ask('mutation { setPassword(password: "correct horse") { id } }', {}, token),
  },
  endSession: {
    right: 'self',
    ask: async (_at, token) => {
      const { data } = await ask('{ viewer { sessions(first: 1) { id } } }', {}, token);
      const id = data?.viewer.sessions[0]?.id ?? newId('browserSession');
      // A further session, because the token of this test stays in use.
      const user = (await backend.withGraph((graph) => graph.find('browserSession', id, null)))?.user;
      if (user !== undefined) await backend.userToken(parseId('user', user));
      const seen = await ask('{ viewer { sessions(first: 1) { id } } }', {}, token);
      const newest = seen.data?.viewer.sessions[0]?.id ?? id;
      return await ask('mutation ($id: ID!) { endSession(id: $id) }', { id: newest }, token);
    },
  },
  endOtherSessions: {
    right: 'self',
    ask: (_at, token) => ask('mutation { endOtherSessions { id } }', {}, token),
  },
  beginPasskey: {
    right: 'self',
    ask: (_at, token) => ask('mutation { beginPasskey { ticket } }', {}, token),
  },
  addPasskey: {
    right: 'self',
    ask: async (_at, token) => {
      const begun = await ask('mutation { beginPasskey { options ticket } }', {}, token);
      const { options = '{"user":{}}', ticket = 'x' } = begun.data?.beginPasskey ?? {};
      const variables = { t: ticket, r: JSON.stringify(new Authenticator().register(JSON.parse(options))) };
      const query = 'mutation ($t: String!, $r: String!) { addPasskey(ticket: $t, response: $r, name: "x") { id } }';
      return await ask(query, variables, token);
    },
  },
  renamePasskey: {
    right: 'self',
    ask: async (_at, token) =>
      ask(
        'mutation ($id: ID!) { renamePasskey(id: $id, name: "x") { id } }',
        { id: (await newPasskey(token)) ?? newId('passkey') },
        token,
      ),
  },
  removePasskey: {
    right: 'self',
    ask: async (_at, token) =>
      ask(
        'mutation ($id: ID!) { removePasskey(id: $id) { id } }',
        { id: (await newPasskey(token)) ?? newId('passkey') },
        token,
      ),
  },
  createWorkspace: {
    right: 'anyone',
    ask: (_at, token) => {
      const ownerEmail = token === tokens.get('operator') ? 'a@b' : null;
      const query = 'mutation ($i: CreateWorkspaceInput!) { createWorkspace(input: $i) { id } }';
      return ask(query, { i: { name: fresh(), ownerEmail } }, token);
    },
  },
  updateWorkspace: {
    right: 'own',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $n: String!) { updateWorkspace(id: $w, input: { name: $n }) { id } }',
        { w: at.workspace, n: fresh() },
        token,
      ),
  },
  removeWorkspace: {
    right: 'operate',
    ask: async (_at, token) => {
      const { createWorkspace } = await backend.must(
        'mutation ($n: String!) { createWorkspace(input: { name: $n, ownerEmail: "a@b" }) { id } }',
        { n: fresh() },
      );
      return ask('mutation ($w: ID!) { removeWorkspace(id: $w) }', { w: createWorkspace.id }, token);
    },
  },
  addMember: {
    right: 'operate',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $e: String!) { addMember(workspace: $w, input: { email: $e, role: owner }) { id } }',
        { w: at.workspace, e: `${fresh()}@example.com` },
        token,
      ),
  },
  inviteMember: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $e: String!) { inviteMember(workspace: $w, input: { email: $e, role: admin }) { id } }',
        { w: at.workspace, e: `${fresh()}@example.com` },
        token,
      ),
  },
  withdrawInvitation: {
    right: 'administer',
    ask: async (at, token) => {
      const { inviteMember } = await backend.must(
        'mutation ($w: ID!, $e: String!) { inviteMember(workspace: $w, input: { email: $e, role: viewer }) { id } }',
        { w: at.workspace, e: `${fresh()}@example.com` },
      );
      return ask(
        'mutation ($w: ID!, $id: ID!) { withdrawInvitation(workspace: $w, id: $id) }',
        { w: at.workspace, id: inviteMember.id },
        token,
      );
    },
  },
  updateMember: {
    right: 'administer',
    ask: async (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!) { updateMember(workspace: $w, id: $id, input: { role: admin }) { id } }',
        { w: at.workspace, id: await newMember(at) },
        token,
      ),
  },
  removeMember: {
    right: 'administer',
    ask: async (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!) { removeMember(workspace: $w, id: $id) }',
        { w: at.workspace, id: await newMember(at) },
        token,
      ),
  },
  createRole: {
    right: 'edit',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $n: String!) { createRole(workspace: $w, input: { name: $n }) { id } }',
        { w: at.workspace, n: fresh() },
        token,
      ),
  },
  updateRole: {
    right: 'edit',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!, $n: String!) { updateRole(workspace: $w, id: $id, input: { description: $n }) { id } }',
        { w: at.workspace, id: at.role, n: fresh() },
        token,
      ),
  },
  removeRole: {
    right: 'edit',
    ask: async (at, token) => {
      const made = await backend.must(
        'mutation ($w: ID!, $n: String!) { createRole(workspace: $w, input: { name: $n }) { id } }',
        { w: at.workspace, n: fresh() },
      );
      return ask(
        'mutation ($w: ID!, $id: ID!) { removeRole(workspace: $w, id: $id) }',
        { w: at.workspace, id: made.createRole.id },
        token,
      );
    },
  },
  createSkill: {
    right: 'edit',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $n: String!) { createSkill(workspace: $w, input: { name: $n }) { id } }',
        { w: at.workspace, n: fresh() },
        token,
      ),
  },
  updateSkill: {
    right: 'edit',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!, $n: String!) { updateSkill(workspace: $w, id: $id, input: { instructions: $n }) { id } }',
        { w: at.workspace, id: at.skill, n: fresh() },
        token,
      ),
  },
  removeSkill: {
    right: 'edit',
    ask: async (at, token) => {
      const made = await backend.must(
        'mutation ($w: ID!, $n: String!) { createSkill(workspace: $w, input: { name: $n }) { id } }',
        { w: at.workspace, n: fresh() },
      );
      return ask(
        'mutation ($w: ID!, $id: ID!) { removeSkill(workspace: $w, id: $id) }',
        { w: at.workspace, id: made.createSkill.id },
        token,
      );
    },
  },
  addSkillFile: {
    right: 'edit',
    ask: (at, token) => offerFile(at, `${fresh()}.md`, token),
  },
  removeSkillFile: {
    right: 'edit',
    ask: async (at, token) => {
      const path = `${fresh()}.md`;
      const { data } = await offerFile(at, path, await backend.operatorToken());
      const { pathname, search } = new URL(data.addSkillFile.url);
      await fetch(backend.url + pathname + search, { method: 'PUT', body: 'x' });
      return ask(
        'mutation ($w: ID!, $s: ID!, $p: String!) { removeSkillFile(workspace: $w, skill: $s, path: $p) }',
        { w: at.workspace, s: at.skill, p: path },
        token,
      );
    },
  },
  createToolToken: {
    right: 'administer',
    ask: (at, token) =>
      ask('mutation ($w: ID!) { createToolToken(workspace: $w) { expiresAt } }', { w: at.workspace }, token),
  },
  createMcpServer: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }',
        { w: at.workspace, input: { name: fresh(), launch } },
        token,
      ),
  },
  updateMcpServer: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) { updateMcpServer(workspace: $w, id: $id, input: $input) { id } }',
        { w: at.workspace, id: at.server, input: { launch: { command: fresh() } } },
        token,
      ),
  },
  removeMcpServer: {
    right: 'administer',
    ask: async (at, token) => {
      const made = await backend.must(
        'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }',
        { w: at.workspace, input: { name: fresh(), launch } },
      );
      return ask(
        'mutation ($w: ID!, $id: ID!) { removeMcpServer(workspace: $w, id: $id) }',
        { w: at.workspace, id: made.createMcpServer.id },
        token,
      );
    },
  },
  restartMcpServer: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!) { restartMcpServer(workspace: $w, id: $id) }',
        { w: at.workspace, id: at.server },
        token,
      ),
  },
  beginIntegration: {
    right: 'administer',
    toOperators: 'forbidden',
    ask: async (at, token) => ask(beginQuery, { w: at.workspace, id: at.integration }, token),
  },
  finishIntegration: {
    right: 'administer',
    toOperators: 'forbidden',
    ask: async (at, token) => {
      const variables = { w: at.workspace, id: await newIntegration({ id: at.workspace }) };
      const own = await ask(beginQuery, variables, token);
      const begun =
        own.code === null && own.status === 200 ? own : await ask(beginQuery, variables, tokens.get('admin'));
      const answer = await provider.visit(begun.data.beginIntegration);
      return ask('mutation ($a: String!) { finishIntegration(answer: $a) { id } }', { a: answer }, token);
    },
  },
  updateIntegration: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!, $n: String!) { updateIntegration(workspace: $w, id: $id, input: { scopes: [$n] }) { id } }',
        { w: at.workspace, id: at.integration, n: fresh() },
        token,
      ),
  },
  disconnectIntegration: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!) { disconnectIntegration(workspace: $w, id: $id) { id } }',
        { w: at.workspace, id: at.integration },
        token,
      ),
  },
  createKey: {
    right: 'read',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $n: String!) { createKey(workspace: $w, input: { name: $n }) { key { id } } }',
        { w: at.workspace, n: fresh() },
        token,
      ),
  },
  importKey: {
    right: 'operate',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $n: String!, $s: String!) { importKey(workspace: $w, input: { name: $n }, secret: $s) { id } }',
        { w: at.workspace, n: fresh(), s: `USK-${newId('key')}` },
        token,
      ),
  },
  updateKey: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $id: ID!, $n: String!) { updateKey(workspace: $w, id: $id, input: { name: $n }) { id } }',
        { w: at.workspace, id: at.key, n: fresh() },
        token,
      ),
  },
  rotateKey: {
    right: 'administer',
    ask: async (at, token) => {
      const made = await backend.must(
        'mutation ($w: ID!, $n: String!) { createKey(workspace: $w, input: { name: $n }) { key { id } } }',
        { w: at.workspace, n: fresh() },
      );
      return ask(
        'mutation ($w: ID!, $id: ID!) { rotateKey(workspace: $w, id: $id) { key { id } } }',
        { w: at.workspace, id: made.createKey.key.id },
        token,
      );
    },
  },
  revokeKey: {
    right: 'administer',
    ask: async (at, token) => {
      const name = fresh();
      await backend.must(
        'mutation ($w: ID!, $n: String!) { createKey(workspace: $w, input: { name: $n }) { key { id } } }',
        { w: at.workspace, n: name },
      );
      return ask(
        'mutation ($w: ID!, $n: String!) { revokeKey(workspace: $w, key: $n) { id } }',
        { w: at.workspace, n: name },
        token,
      );
    },
  },
  registerRuntime: {
    right: 'administer',
    ask: (at, token) =>
      ask(
        'mutation ($w: ID!, $n: String!) { registerRuntime(workspace: $w, name: $n) { runtime { id } } }',
        { w: at.workspace, n: fresh() },
        token,
      ),
  },
  revokeRuntime: {
    right: 'administer',
    ask: async (at, token) => {
      const made = await backend.must(
        'mutation ($w: ID!, $n: String!) { registerRuntime(workspace: $w, name: $n) { runtime { id } } }',
        { w: at.workspace, n: fresh() },
      );
      return ask(
        'mutation ($w: ID!, $id: ID!) { revokeRuntime(workspace: $w, id: $id) }',
        { w: at.workspace, id: made.registerRuntime.runtime.id },
        token,
      );
    },
  },
  registerSystemKey: {
    right: 'operate',
    ask: (_at, token) =>
      ask(
        'mutation ($key: String!) { registerSystemKey(input: { component: "remote-mcp", key: $key }) }',
        { key: newKey('system').reveal() },
        token,
      ),
  },
};

const everyone = ['viewer', 'editor', 'admin', 'owner', 'operator'];
const leastRole: Readonly<Record<Right, MemberRole | 'operator'>> = {
  read: 'viewer',
  edit: 'editor',
  administer: 'admin',
  own: 'owner',
  operate: 'operator',
};

function refusalOf(who: string, { right, toOperators }: Row): string | null {
  if (who === 'operator' && toOperators !== undefined) return toOperators;
  return may(who, right) ? null : 'forbidden';
}

function may(who: string, right: Row['right']): boolean {
  if (right === 'self') return who !== 'operator';
  return right === 'anyone' || everyone.indexOf(who) >= everyone.indexOf(leastRole[right]);
}

test('every operation has a row', () => {
  const schema = createSchema();
  const fieldsOf = (type: string) => {
    const found = schema.getType(type);
    return isObjectType(found) ? Object.keys(found.getFields()) : [];
  };
  const reads = ['Query', 'Subscription', 'Workspace'].flatMap((type) =>
    fieldsOf(type).map((field) => `${type}.${field}`),
  );
  const beyond = ['Role.keys'];
  expect(Object.keys(rows).sort()).toEqual([...fieldsOf('Mutation'), ...reads, ...beyond].sort());
});

describe.each(Object.entries(rows))('%s', (_name, row) => {
  const isOfWorkspace = row.right !== 'self' && row.right !== 'anyone';

  test.each(everyone)('%s', async (who) => {
    const answer = await row.ask(home, tokens.get(who));
    expect(answer.code).toBe(refusalOf(who, row));
  });

  test.each([
    ['a member of another workspace', 'stranger'],
    ['a removed member', 'removed'],
    ['a person who was never a member', 'newcomer'],
  ])('%s learns nothing, not even that it exists', async (_person, who) => {
    const answer = await row.ask(home, who === 'newcomer' ? await newcomer() : tokens.get(who));
    expect(JSON.stringify(answer)).not.toMatch(/Home|same/);
    expect(JSON.stringify(answer.data)).not.toContain(home.workspace);
    if (row.right === 'self') return;
    if (row.right === 'operate') return expect(answer.code).toBe('forbidden');
    expect(answer.code).toBe(isOfWorkspace && row.isRead === undefined ? 'not_found' : null);
    if (row.isRead) expect(answer.data).toEqual({ workspace: null });
  });

  test('a suspended member may do nothing in it', async () => {
    const answer = await row.ask(home, tokens.get('suspended'));
    if (isOfWorkspace) expect(answer.code).toBe('forbidden');
    expect(JSON.stringify(answer.data)).not.toContain(home.workspace);
  });

  test('without a valid token nothing happens', async () => {
    expect((await row.ask(home, undefined)).status).toBe(401);
    expect((await row.ask(home, await backend.operatorToken({ exp: 1 }))).status).toBe(401);
  });
});

describe('ids of another workspace are as unknown as invalid ids', () => {
  const refusals: readonly (readonly [string, (at: Home) => string])[] = [
    ['mutation ($w: ID!, $id: ID!) { updateRole(workspace: $w, id: $id, input: {}) { id } }', ({ role }) => role],
    ['mutation ($w: ID!, $id: ID!) { removeRole(workspace: $w, id: $id) }', ({ role }) => role],
    ['mutation ($w: ID!, $id: ID!) { updateSkill(workspace: $w, id: $id, input: {}) { id } }', ({ skill }) => skill],
    ['mutation ($w: ID!, $id: ID!) { removeSkill(workspace: $w, id: $id) }', ({ skill }) => skill],
    [
      'mutation ($w: ID!, $id: ID!) { createRole(workspace: $w, input: { name: "r", skills: [$id] }) { id } }',
      ({ skill }) => skill,
    ],
    [
      'mutation ($w: ID!, $id: ID!) { updateMcpServer(workspace: $w, id: $id, input: {}) { id } }',
      ({ server }) => server,
    ],
    ['mutation ($w: ID!, $id: ID!) { removeMcpServer(workspace: $w, id: $id) }', ({ server }) => server],
    ['mutation ($w: ID!, $id: ID!) { restartMcpServer(workspace: $w, id: $id) }', ({ server }) => server],
    [
      'mutation ($w: ID!, $id: ID!) { updateIntegration(workspace: $w, id: $id, input: {}) { id } }',
      ({ integration }) => integration,
    ],
    [
      'mutation ($w: ID!, $id: ID!) { disconnectIntegration(workspace: $w, id: $id) { id } }',
      ({ integration }) => integration,
    ],
    [
      'mutation ($w: ID!, $id: ID!) { createKey(workspace: $w, input: { name: "k", roles: [$id] }) { key { id } } }',
      ({ role }) => role,
    ],
    ['mutation ($w: ID!, $id: ID!) { updateKey(workspace: $w, id: $id, input: {}) { id } }', ({ key }) => key],
    [
      'mutation ($w: ID!, $id: ID!) { updateKey(workspace: $w, id: "KEY", input: { roles: [$id] }) { id } }',
      ({ role }) => role,
    ],
    ['mutation ($w: ID!, $id: ID!) { rotateKey(workspace: $w, id: $id) { key { id } } }', ({ key }) => key],
    ['mutation ($w: ID!, $id: String!) { revokeKey(workspace: $w, key: $id) { id } }', ({ key }) => key],
    ['mutation ($w: ID!, $id: ID!) { revokeRuntime(workspace: $w, id: $id) }', ({ runtime }) => runtime],
    ['mutation ($w: ID!, $id: ID!) { updateMember(workspace: $w, id: $id, input: {}) { id } }', ({ member }) => member],
    ['mutation ($w: ID!, $id: ID!) { removeMember(workspace: $w, id: $id) }', ({ member }) => member],
    ['mutation ($w: ID!, $id: ID!) { removeMember(workspace: $w, id: "MEMBER", keysTo: $id) }', ({ member }) => member],
  ];
  test.each(refusals)('%s', async (query, idOf) => {
    for (const token of [tokens.get('owner'), tokens.get('operator')]) {
      const answer = await ask(
        query.replace('KEY', home.key).replace('MEMBER', home.member),
        { w: home.workspace, id: idOf(away) },
        token,
      );
      expect(answer.code).toBe('not_found');
    }
  });

  test('lookups answer null', async () => {
    const query = `query ($w: ID!, $role: ID!, $skill: ID!, $server: ID!, $integration: ID!) {
      workspace(id: $w) {
        role(id: $role) { id } skill(id: $skill) { id } mcpServer(id: $server) { id } integration(id: $integration) { id }
      }
    }`;
    const { workspace: w } = home;
    const { data } = await ask(query, { ...away, w }, tokens.get('operator'));
    expect(data).toEqual({ workspace: { role: null, skill: null, mcpServer: null, integration: null } });
    const own = await ask(query, { ...home, w }, tokens.get('viewer'));
    expect(own.data.workspace.role).toEqual({ id: home.role });
  });
});

describe('reading', () => {
  test('a key is identified by its text for operators only', async () => {
    const query = 'query ($s: String!) { identifyKey(secret: $s) { key { id } workspace { id } } }';
    const { createKey } = await backend.must(
      'mutation ($w: ID!, $n: String!) { createKey(workspace: $w, input: { name: $n }) { secret key { id } } }',
      { w: home.workspace, n: fresh() },
    );
    const variables = { s: createKey.secret };
    for (const who of [...memberRoles, 'stranger']) {
      expect((await ask(query, variables, tokens.get(who))).code).toBe('forbidden');
    }
    expect((await ask(query, variables, tokens.get('operator'))).data.identifyKey).toEqual({
      key: { id: createKey.key.id },
      workspace: { id: home.workspace },
    });
    for (const s of ['', 'x', `${createKey.secret}x`, newKey('user').reveal(), newKey('system').reveal()]) {
      expect((await ask(query, { s }, tokens.get('operator'))).data).toEqual({ identifyKey: null });
    }
    expect(backend.logged.join('')).not.toContain(createKey.secret);
  });

  const byId = 'query ($id: ID) { workspace(id: $id) { id } }';
  const byName = 'query ($name: String) { workspace(name: $name) { id } }';

  test('a workspace does not exist for a non-member', async () => {
    const token = tokens.get('viewer');
    expect((await ask(byId, { id: away.workspace }, token)).data).toEqual({ workspace: null });
    expect((await ask(byName, { name: 'Away' }, token)).data).toEqual({ workspace: null });
    expect((await ask(byId, { id: newId('workspace') }, token)).data).toEqual({ workspace: null });
    expect((await ask(byId, { id: 'nonsense' }, token)).data).toEqual({ workspace: null });
    expect((await ask(byName, { name: 'Away' }, tokens.get('stranger'))).data.workspace.id).toBe(away.workspace);
    expect((await ask('{ workspace { id } }', {}, token)).code).toBe('invalid_input');
  });

  test('users see their own workspaces, operators all', async () => {
    const query = '{ workspaces { nodes { id } } viewer { kind name memberships { role workspace { id } } } }';
    const { token } = await backend.addMember(home.workspace, 'editor');
    const { data } = await ask(query, {}, token);
    expect(data.workspaces.nodes).toEqual([{ id: home.workspace }]);
    expect(data.viewer).toEqual({
      kind: 'user',
      name: 'editor',
      memberships: [{ role: 'editor', workspace: { id: home.workspace } }],
    });
    const all = await ask(query, {}, tokens.get('operator'));
    expect(all.data.workspaces.nodes.length).toBeGreaterThan(1);
    expect(all.data.viewer.memberships).toEqual([]);
    const found = await ask('{ workspaces(search: "away") { nodes { name } } }', {}, tokens.get('operator'));
    expect(found.data.workspaces.nodes).toEqual([{ name: 'Away' }]);
    const sought = await ask('{ workspaces(search: "away") { nodes { name } } }', {}, tokens.get('stranger'));
    expect(sought.data.workspaces.nodes).toEqual([{ name: 'Away' }]);
    const hidden = await ask('{ workspaces(search: "away") { nodes { name } } }', {}, tokens.get('viewer'));
    expect(hidden.data.workspaces.nodes).toEqual([]);
  });

  test('everybody reads their own keys, and admins those of all', async () => {
    const { token } = await backend.addMember(home.workspace, 'viewer');
    const name = fresh();
    const create = 'mutation ($w: ID!, $n: String!) { createKey(workspace: $w, input: { name: $n }) { key { id } } }';
    expect((await ask(create, { w: home.workspace, n: name }, token)).code).toBe(null);
    const own = 'query ($w: ID!) { workspace(id: $w) { ownKeys { name } } }';
    expect((await ask(own, { w: home.workspace }, token)).data.workspace.ownKeys).toEqual([{ name }]);
    for (const who of ['editor', 'operator']) {
      const { data } = await ask(own, { w: home.workspace }, tokens.get(who));
      expect(JSON.stringify(data.workspace.ownKeys)).not.toContain(name);
    }
    const all = 'query ($w: ID!) { workspace(id: $w) { keys { nodes { name } } } }';
    for (const who of everyone) {
      const answer = await ask(all, { w: home.workspace }, tokens.get(who));
      expect([who, answer.code]).toEqual([who, may(who, 'administer') ? null : 'forbidden']);
    }
  });

  test('usage names a member who tried tools, to owner and admin by the email address, until the person leaves', async () => {
    const { user } = await backend.addMember(home.workspace, 'admin');
    const hour = Date.UTC(2026, 0, 1);
    const id = await backend.withGraph((graph) =>
      graph.write(async (transaction) => {
        const member = await transaction.findBy('member', { user }, home.workspace);
        if (member === null) throw new Error('the member was not written');
        const ids = { key: memberKeyOf(member.id), tool: newId('tool'), skill: null, mcpServer: newId('mcpServer') };
        const counts = { calls: 1, errors: 0, durationMs: 5 };
        const slot = `${hour} ${ids.key} ${ids.tool} -`;
        await transaction.create('usage', {
          ...{ id: newId('usage'), slot, workspace: home.workspace, hour, ...ids, ...counts },
        });
        return member.id;
      }),
    );
    const stretch = `(from: ${hour}, to: ${hour + 1})`;
    const query = `query ($w: ID!) { workspace(id: $w) {
      usage${stretch} { nodes { key } } usageSummary${stretch} { largest(by: key, order: calls) { id name } }
    } }`;
    const namesFor = async (who: string) => {
      const { usage, usageSummary } = (await ask(query, { w: home.workspace }, tokens.get(who))).data.workspace;
      return [usage.nodes, usageSummary.largest];
    };
    const named = (name: string) => [[{ key: name }], [{ id: memberKeyOf(id), name }]];
    const { email, name } = await backend.withGraph(
      async (graph) => (await graph.find('user', user, null)) ?? expect.fail(),
    );
    expect(name).not.toContain(email);
    for (const who of everyone) {
      expect([who, await namesFor(who)]).toEqual([who, named(may(who, 'administer') ? email : name)]);
    }
    const remove = 'mutation ($w: ID!, $id: ID!) { removeMember(workspace: $w, id: $id) }';
    await backend.must(remove, { w: home.workspace, id });
    expect(await namesFor('viewer')).toEqual(named(memberKeyOf(id)));
  });

  test('the launch of an MCP server, and its output, are for owner, admin and operator', async () => {
    const { data } = await backend.ask({
      query: `mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }`,
      variables: {
        w: home.workspace,
        input: {
          name: 'launched',
          launch: {
            command: 'node',
            args: ['a.js', '--x'],
            cwd: '/srv',
            env: [{ name: 'TOKEN', value: 'hidden-value' }],
          },
        },
      },
      token: tokens.get('admin'),
    });
    const query = `query ($w: ID!, $id: ID!) { workspace(id: $w) { mcpServer(id: $id) {
      launch { command args cwd url envNames headerNames fingerprint } stderr
    } } }`;
    for (const who of everyone) {
      const answer = await ask(query, { w: home.workspace, id: data.createMcpServer.id }, tokens.get(who));
      const shown = answer.data.workspace.mcpServer;
      expect(JSON.stringify(answer)).not.toContain('hidden-value');
      if (!may(who, 'administer')) expect(shown).toEqual({ launch: null, stderr: [] });
      else {
        expect(shown.launch).toEqual({
          command: 'node',
          args: ['a.js', '--x'],
          cwd: '/srv',
          url: null,
          envNames: ['TOKEN'],
          headerNames: [],
          fingerprint: expect.stringMatching(/^[\w-]{43}$/),
        });
      }
    }
  });

  test.each(['launchFingerprint', 'launchRefusal'])('the check of a launch (%s), too', async (field) => {
    const query = `query ($w: ID!) { workspace(id: $w) { ${field}(launch: { command: "x" }) } }`;
    for (const who of everyone) {
      const answer = await ask(query, { w: home.workspace }, tokens.get(who));
      expect(answer.code).toBe(may(who, 'administer') ? null : 'forbidden');
    }
  });

  test('the comparison of a launch, too', async () => {
    const query = `query ($w: ID!, $id: ID!) { workspace(id: $w) { mcpServer(id: $id) {
      changedSettings(launch: { command: "x", env: [{ name: "A", value: "b" }] }) } } }`;
    for (const who of everyone) {
      const answer = await ask(query, { w: home.workspace, id: home.server }, tokens.get(who));
      expect(answer.code).toBe(may(who, 'administer') ? null : 'forbidden');
    }
  });

  test('the owner of a workspace is a person', async () => {
    const query = 'query ($w: ID!) { workspace(id: $w) { owner { email name } } }';
    const { data } = await ask(query, { w: home.workspace }, tokens.get('viewer'));
    expect(data.workspace.owner).toEqual({ email: 'owner@localhost', name: 'owner' });
  });
});

describe('suspended', () => {
  test('a suspended workspace is closed to its members, not to operators', async () => {
    const place = await addHome('Closed');
    const owner = await backend.addMember(place.workspace, 'owner');
    const suspend =
      'mutation ($w: ID!, $s: Boolean) { updateWorkspace(id: $w, input: { suspended: $s }) { suspended } }';
    const read = 'query ($w: ID!) { workspace(id: $w) { roles { nodes { id } } } }';
    const byOwner = await ask(suspend, { w: place.workspace, s: true }, owner.token);
    expect(byOwner.code).toBe('forbidden');
    const { updateWorkspace } = await backend.must(suspend, { w: place.workspace, s: true });
    expect(updateWorkspace).toEqual({ suspended: true });
    expect((await ask(read, { w: place.workspace }, owner.token)).code).toBe('forbidden');
    expect((await rows.createRole?.ask(place, owner.token))?.code).toBe('forbidden');
    expect((await rows.createRole?.ask(place, tokens.get('stranger')))?.code).toBe('not_found');
    expect((await rows.createRole?.ask(place, tokens.get('operator')))?.code).toBe(null);
    await backend.must(suspend, { w: place.workspace, s: false });
    expect((await ask(read, { w: place.workspace }, owner.token)).code).toBe(null);
  });

  test('a suspended membership too', async () => {
    const member = await backend.addMember(home.workspace, 'owner');
    await backend.withGraph((graph) =>
      graph.write(async (transaction) => {
        const node = await transaction.findBy('member', { user: member.user }, home.workspace);
        if (node === null) throw new Error('the member was not written');
        await transaction.update('member', node.id, { suspended: true }, { anchor: home.workspace });
      }),
    );
    const read = 'query ($w: ID!) { workspace(id: $w) { id } }';
    expect((await ask(read, { w: home.workspace }, member.token)).code).toBe('forbidden');
    expect((await rows.createRole?.ask(home, member.token))?.code).toBe('forbidden');
    expect((await ask('{ workspaces { nodes { id } } }', {}, member.token)).data.workspaces.nodes).toEqual([]);
  });
});
