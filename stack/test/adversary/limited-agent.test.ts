import { createPrivateKey } from 'node:crypto';
import { decodeJwt, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Browser } from '../../../services/backend/test/browser.ts';
import { accountPath, agentTokenType, graphqlPath } from '../../../services/contracts/token.ts';
import { OauthClient } from '../../../services/remote-mcp/test/oauth.ts';
import { isGood, openSession, type RawAnswer, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import { type HttpMcpServer, httpMcpServer } from '../../../services/runtime/test/http-mcp-server.ts';
import type { BackendClient } from '../../client/backend-client.ts';
import {
  createKeyMutation,
  createMcpServerMutation,
  createRoleMutation,
  createSignInLinkMutation,
  createSkillMutation,
  restartMcpServerMutation,
} from '../../client/generated/operations.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { onEachTopology } from './on-each-topology.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * An agent that may do little tries to do more: by other names of a tool, by other ways to call it, and by tokens that
 * are for something else. No call that it may not make reaches the MCP server.
 */
let platform: Platform;
let backend: BackendClient;
let a: Home;
let b: Home;

interface Tool {
  readonly name: string;
  readonly annotations?: unknown;
}

interface Home {
  readonly id: string;
  readonly owner: string;
  readonly server: string;
  readonly skill: string;
  /** The tools of its MCP server "crm". */
  tools: readonly Tool[];
  readonly crm: HttpMcpServer;
}

const usual: readonly Tool[] = [
  { name: 'find_user', annotations: { readOnlyHint: true } },
  { name: 'list_users' },
  { name: 'delete_user', annotations: { readOnlyHint: false, destructiveHint: true } },
  // Claims that are no hint.
  { name: 'wipe_1', annotations: { readOnlyHint: 'true' } },
  { name: 'wipe_2', annotations: { readonlyhint: true, readOnly: true } },
  { name: 'wipe_3', annotations: [{ readOnlyHint: true }] },
  { name: 'wipe_4', annotations: { title: { readOnlyHint: true } } },
];

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
const ask = (text: string, variables: Readonly<Record<string, unknown>>): Promise<any> =>
  backend.send({ text }, variables);

async function addHome(name: string): Promise<Home> {
  const owner = `${name.toLowerCase()}@owners.example`;
  const create = 'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id } }';
  const { id } = (await ask(create, { input: { name, ownerEmail: owner } })).createWorkspace;
  const crm = await httpMcpServer(({ method }) =>
    method === 'tools/list'
      ? { tools: made.tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })) }
      : undefined,
  );
  const input = { name: 'crm', launch: { url: crm.launch().url } };
  const made = { id, owner, server: '', skill: '', tools: usual, crm };
  made.server = (await backend.send(createMcpServerMutation, { workspace: id, input })).createMcpServer.id;
  const query = 'query ($w: ID!, $s: ID!) { workspace(id: $w) { mcpServer(id: $s) { status } } }';
  await until(async () => (await ask(query, { w: id, s: made.server })).workspace.mcpServer.status === 'Connected');
  const skill = { name: 'users', tools: [{ mcpServer: 'crm', tool: '*' }] };
  made.skill = (await backend.send(createSkillMutation, { workspace: id, input: skill })).createSkill.id;
  return made;
}

/** The names of the tools that the MCP server of a workspace was asked to call. */
function calledIn({ crm }: Home): readonly string[] {
  return crm.asked.flatMap(({ message }) => (message?.method === 'tools/call' ? [String(message.params?.name)] : []));
}

let count = 0;

interface KeyMore {
  readonly disclosure?: 'all';
}

/** An agent whose key has one role with these limits. */
async function addAgent({ id: workspace, skill }: Home, limits: object, more: KeyMore = {}) {
  const name = `limited-${++count}`;
  const role = await backend.send(createRoleMutation, { workspace, input: { name, skills: [skill], ...limits } });
  const input = { name, roles: [role.createRole.id], ...more };
  const { createKey } = await backend.send(createKeyMutation, { workspace, input });
  const agent = { key: createKey.secret, role: role.createRole.id, name };
  await until(async () => isGood(await callAs(agent, { name: 'find_user', arguments: {} })));
  return agent;
}

interface Caller {
  readonly key: string;
}

async function sessionOf({ key }: Caller, query = ''): Promise<string> {
  return await openSession(platform.mcpUrl + query, key);
}

async function callAs({ key }: Caller, params: unknown, query = ''): Promise<RawAnswer> {
  const session = await sessionOf({ key }, query).catch(() => undefined);
  return await send(platform.mcpUrl + query, { key, session, body: rpc('tools/call', params) });
}

const deny = (tool: string) => ({ rules: [{ effect: 'deny', mcpServer: 'crm', tool }] });

/** Other spellings of the name of a tool, and values that are no name. */
function spellingsOf(name: string, home: Home): readonly unknown[] {
  const [first = '', ...rest] = name;
  return [
    name,
    ...[name.toUpperCase(), first.toUpperCase() + rest.join(''), ` ${name}`, `${name} `, `${name}\n`, `${name}\0`],
    ...[name.replace('e', '\u0435'), name.replace('_', '\uff3f'), `\u200b${name}`, name.replace('_', '\u200b_')],
    ...[`e\u0301${name}`, `${name}\u0301`, encodeURIComponent(name).replace('_', '%5F'), name.replace('_', '-')],
    ...[`crm_${name}`, `crm/${name}`, `crm.${name}`, `crm:${name}`, `${home.server}/${name}`, `${home.server}_${name}`],
    ...['*', 'delete_*', `${name}*`, 'constructor', '__proto__', 'toString', ''],
    ...[[name], { name }, null, 0, true],
  ];
}

/** Every way to call a tool by a name. */
const ways: Readonly<Record<string, (name: unknown) => unknown>> = {
  'by its name': (name) => ({ name, arguments: {} }),
  'by call_tool': (name) => ({ name: 'call_tool', arguments: { name, arguments: {} } }),
  'by call_tool in itself': (name) => ({
    name: 'call_tool',
    arguments: { name: 'call_tool', arguments: { name, arguments: {} } },
  }),
  'with a second name': (name) => ({ name: 'find_user', arguments: { name }, tool: name, _meta: { name, tool: name } }),
};

/** The addresses as the platform names them: the authorization server and tokens are bound to them. */
const addresses = () => ({
  backend: `http://localhost:${platform.ports.backend}`,
  frontend: `http://localhost:${platform.ports.frontend}`,
});

async function signIn(email: string): Promise<Browser> {
  const { createSignInLink } = await backend.send(createSignInLinkMutation, { email });
  const browser = new Browser(addresses().backend, { origin: addresses().frontend });
  const { status } = await browser.post(`${accountPath}/link`, { token: new URL(createSignInLink.url).hash.slice(7) });
  expect(status).toBe(200);
  return browser;
}

/** An agent that asked for one scope, and to which the person gave another. */
async function connect(browser: Browser, client: OauthClient, { asked, given }: { asked: string; given: string }) {
  const { uid } = await client.authorize(browser, { scope: asked });
  const { code } = await client.consent(browser, uid, { workspace: a.id, scope: given });
  const { status, body } = await client.exchange(code);
  expect(status).toBe(200);
  return body;
}

/** A text with another payload and the old signature. */
function forge(token: string, change: object): string {
  const [header, , signature] = token.split('.');
  const payload = Buffer.from(JSON.stringify({ ...decodeJwt(token), ...change })).toString('base64url');
  return `${header}.${payload}.${signature}`;
}

/** Signed by the platform's own key, as if the platform had made it. */
async function sign(claims: JWTPayload, typ = 'JWT'): Promise<string> {
  const key = createPrivateKey(readSecret(secretFilesOf(platform.installation).jwtPrivateKey));
  return await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ }).sign(key);
}

const statusOf = async (key: string) => (await callAs({ key }, { name: 'find_user', arguments: {} })).status;

onEachTopology(
  (topology) => {
    beforeAll(async () => {
      platform = await Platform.start({ topology });
      backend = await platform.backend();
      [a, b] = [await addHome('A'), await addHome('B')];
    }, startTimeoutMs);
    afterAll(async () => {
      for (const home of [a, b]) home?.crm.close();
      await platform?.[Symbol.asyncDispose]();
    }, startTimeoutMs);

    describe('a tool that a rule denies', () => {
      test('is called by no spelling, no way and no preload', async () => {
        const limits = deny('delete_*');
        const [agent, all] = [await addAgent(a, limits), await addAgent(a, limits, { disclosure: 'all' })];
        for (const [way, write] of Object.entries(ways)) {
          for (const spelling of spellingsOf('delete_user', a)) {
            const answer = await callAs(agent, write(spelling));
            expect([way, spelling, answer.status]).toEqual([way, spelling, expect.toSatisfy((status) => status < 500)]);
          }
        }
        for (const caller of [agent, all]) {
          for (const query of [
            `?skillIds=${a.skill}`,
            '?skillIds=users',
            `?roleIds=${caller.role}`,
            '?skillIds=users,*',
          ]) {
            const session = await sessionOf(caller, query).catch(() => null);
            if (session === null) continue;
            const list = await send(platform.mcpUrl, { key: caller.key, session, body: rpc('tools/list') });
            expect(list.text).toContain('find_user');
            expect(list.text).not.toContain('delete_user');
            for (const write of Object.values(ways)) await callAs(caller, write('delete_user'), query);
          }
        }
        expect(calledIn(a)).toContain('find_user');
        expect(calledIn(a)).not.toContain('delete_user');
      });

      test('stays denied while its MCP server restarts, adds tools like it and gives it a hint', async () => {
        const agent = await addAgent(a, { ...deny('delete_*'), readOnly: true });
        const hint = { readOnlyHint: true };
        let isAttacking = true;
        const attacking = (async () => {
          const session = await sessionOf(agent, '?skillIds=users');
          for (let i = 0; isAttacking; i++) {
            const params = Object.values(ways)[i % 2]?.(i % 3 === 0 ? 'delete_all' : 'delete_user');
            await send(platform.mcpUrl, { key: agent.key, session, body: rpc('tools/call', params) });
          }
        })();
        a.tools = [
          ...usual.filter(({ name }) => name !== 'list_users').map((tool) => ({ ...tool, annotations: hint })),
          ...[{ name: 'delete_all', annotations: hint }, { name: 'list_users' }],
        ];
        await backend.send(restartMcpServerMutation, { workspace: a.id, id: a.server });
        // A tool whose hint is new is called: the new list has arrived.
        await until(async () => isGood(await callAs(agent, { name: 'wipe_4', arguments: {} })));
        isAttacking = false;
        await attacking;
        a.tools = usual;
        await backend.send(restartMcpServerMutation, { workspace: a.id, id: a.server });
        await until(async () =>
          (await callAs(agent, { name: 'wipe_4', arguments: {} })).text.includes('does not allow'),
        );
        expect(calledIn(a).filter((name) => name.startsWith('delete_'))).toEqual([]);
      });

      test('is denied in its workspace alone, and no other workspace can make or change the rule', async () => {
        const [agent, free] = [await addAgent(a, deny('delete_*')), await addAgent(b, {})];
        expect(isGood(await callAs(agent, { name: 'delete_user', arguments: {} }))).toBe(false);
        expect(isGood(await callAs(free, { name: 'delete_user', arguments: {} }))).toBe(true);
        expect(calledIn(b)).toContain('delete_user');
        const rules = [{ effect: 'deny', mcpServer: a.server, tool: '*' }];
        await expect(addAgent(b, { rules })).rejects.toMatchObject({ code: 'not_found' });
        expect(isGood(await callAs(free, { name: 'delete_user', arguments: {} }))).toBe(true);
      });

      test('a read-only role admits the tools whose hint is true, and no claim that looks like one', async () => {
        const agent = await addAgent(a, { readOnly: true });
        const before = calledIn(a).length;
        for (const { name } of usual.slice(1)) {
          for (const write of Object.values(ways).slice(0, 3)) {
            expect([name, isGood(await callAs(agent, write(name)))]).toEqual([name, false]);
          }
        }
        expect(calledIn(a).slice(before)).toEqual([]);
      });
    });

    describe('a token that may read', () => {
      let person: Browser;
      let client: OauthClient;
      beforeAll(async () => {
        person = await signIn(a.owner);
        client = await OauthClient.register(addresses().backend);
        await backend.send(createRoleMutation, { workspace: a.id, input: { name: 'All', skills: [a.skill] } });
      });

      test('calls no tool that may write, by no way, also where the client had asked for more', async () => {
        const before = calledIn(a).length;
        for (const asked of ['tools:read', 'tools', 'tools:read tools']) {
          const { access_token: key, refresh_token: refresh } = await connect(person, client, {
            asked,
            given: 'tools:read',
          });
          const refreshed = (await client.refresh(refresh, { scope: 'tools' })).body.access_token;
          for (const token of [key, refreshed]) {
            expect(decodeJwt(token).scope).toBe('tools:read');
            for (const write of Object.values(ways).slice(0, 2)) {
              const { status, headers } = await callAs({ key: token }, write('delete_user'), '?skillIds=users');
              expect([status, headers.get('www-authenticate')]).toEqual([
                403,
                expect.stringContaining('insufficient_scope'),
              ]);
            }
            await callAs({ key: token }, ways['by call_tool in itself']?.('delete_user'));
            for (const scope of ['tools', 'tools tools:read', ['tools']])
              expect(await statusOf(forge(token, { scope }))).toBe(401);
          }
        }
        expect(calledIn(a).slice(before)).toEqual([]);
      });

      test('stays one that may read after the person gave another agent more, and gets no session of that one', async () => {
        const reader = await connect(person, client, { asked: 'tools:read', given: 'tools:read' });
        const writer = await connect(person, client, { asked: 'tools', given: 'tools' });
        const [session, params] = [
          await sessionOf({ key: writer.access_token }),
          { name: 'delete_user', arguments: {} },
        ];
        const call = (key: string) => send(platform.mcpUrl, { key, session, body: rpc('tools/call', params) });
        const before = calledIn(a).length;
        expect((await call(reader.access_token)).status).toBe(404);
        expect((await callAs({ key: reader.access_token }, params)).status).toBe(403);
        expect(decodeJwt((await client.refresh(reader.refresh_token)).body.access_token).scope).toBe('tools:read');
        expect(calledIn(a).slice(before)).toEqual([]);
        expect(isGood(await call(writer.access_token))).toBe(true);
      });

      test('of another audience, issuer, type or kind opens nothing', async () => {
        const { access_token: agent, refresh_token: refresh } = await connect(person, client, {
          asked: 'tools',
          given: 'tools',
        });
        const browserToken = person.cookies.get(person.nameOf('access'))?.value ?? '';
        const claims = decodeJwt(agent);
        const wrong = [
          ...[browserToken, refresh, forge(agent, { aud: 'svc-mcp' }), `${agent}x`, agent.replace(/\.[^.]*$/, '.')],
          await sign({ ...claims, aud: 'https://other.example/mcp' }, agentTokenType),
          await sign({ ...claims, aud: 'svc-mcp' }, agentTokenType),
          await sign({ ...claims, iss: 'https://other.example' }, agentTokenType),
          // The type of another token, signed by the platform.
          await sign(claims),
        ];
        for (const [index, token] of wrong.entries()) expect([index, await statusOf(token)]).toEqual([index, 401]);
        expect(await statusOf(await sign(claims, agentTokenType))).toBe(200);
        expect(await statusOf(agent)).toBe(200);
        const asked = await fetch(addresses().backend + graphqlPath, {
          method: 'POST',
          headers: { authorization: `Bearer ${agent}`, 'content-type': 'application/json' },
          body: '{"query":"{ viewer { id } }"}',
        });
        expect(asked.status).toBe(401);
      });
    });

    describe('a token to try tools', () => {
      const mutation = 'mutation ($w: ID!) { createToolToken(workspace: $w) { token } }';
      const tokenOf = async (browser: Browser, w = a.id) =>
        (await browser.post(graphqlPath, { query: mutation, variables: { w } })).body;

      async function addAdmin() {
        const email = `admin-${++count}@example.com`;
        const text =
          'mutation ($w: ID!, $email: String!) { addMember(workspace: $w, input: { email: $email, role: admin }) { id } }';
        const { id } = (await ask(text, { w: a.id, email })).addMember;
        const browser = await signIn(email);
        return { id, browser, token: (await tokenOf(browser)).data.createToolToken.token as string };
      }

      test('opens one workspace at the address of agents, and nothing else of the platform', async () => {
        const { browser, token } = await addAdmin();
        expect(isGood(await callAs({ key: token }, { name: 'find_user', arguments: {} }))).toBe(true);
        expect((await tokenOf(browser, b.id)).errors[0].extensions.code).toBe('not_found');
        expect(await statusOf(forge(token, { workspace: b.id }))).toBe(401);
        // A person of A with a token that names B, as if the platform had made it.
        expect(await statusOf(await sign({ ...decodeJwt(token), workspace: b.id }))).toBe(401);
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        for (const [method, path, body] of [
          ['POST', graphqlPath, '{"query":"{ viewer { id } }"}'],
          ['GET', `/internal/catalogue/${a.id}`, null],
          ['POST', `${accountPath}/sign-out-everywhere`, '{}'],
          ['GET', `/internal/files/${a.id}/x`, null],
        ] as const) {
          const { status } = await fetch(addresses().backend + path, { method, headers, body });
          expect([path, status]).toEqual([path, expect.toSatisfy((one) => one >= 400 && one < 500)]);
        }
      });

      test('is worth nothing after its end', async () => {
        const { token } = await addAdmin();
        const now = Math.floor(Date.now() / 1000);
        const claims = decodeJwt(token);
        expect((claims.exp ?? 0) - now).toBeLessThanOrEqual(300);
        expect(await statusOf(await sign({ ...claims, exp: now - 60 }))).toBe(401);
        expect(await statusOf(forge(token, { exp: now + 86_400 }))).toBe(401);
        const { exp: _, ...endless } = claims;
        expect(await statusOf(await sign(endless))).toBe(401);
      });

      test.each([
        [
          'the member is suspended',
          403,
          'mutation ($w: ID!, $id: ID!) { updateMember(workspace: $w, id: $id, input: { suspended: true }) { id } }',
        ],
        [
          'the member is an editor',
          401,
          'mutation ($w: ID!, $id: ID!) { updateMember(workspace: $w, id: $id, input: { role: editor }) { id } }',
        ],
        ['the member is removed', 401, 'mutation ($w: ID!, $id: ID!) { removeMember(workspace: $w, id: $id) }'],
        ['the person has signed out', 401, null],
      ])('ends at once after %s, in its open session too', async (_what, expected, text) => {
        const { id, browser, token: key } = await addAdmin();
        const session = await sessionOf({ key });
        const call = () =>
          send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name: 'find_user', arguments: {} }) });
        expect((await call()).status).toBe(200);
        if (text === null) await browser.post(`${accountPath}/sign-out`, {});
        else await ask(text, { w: a.id, id });
        await until(async () => (await call()).status === expected, 5000);
        const before = calledIn(a).length;
        expect((await call()).status).toBe(expected);
        expect((await callAs({ key }, { name: 'find_user', arguments: {} })).status).toBe(expected);
        expect(calledIn(a).length).toBe(before);
      });
    });
  },
  { isLong: true },
);
