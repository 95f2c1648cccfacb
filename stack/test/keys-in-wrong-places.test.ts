import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLInputType, getNamedType, isEnumType, isInputObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSchema } from '../../services/backend/graphql/schema.ts';
import { newKey } from '../../services/contracts/keys.ts';
import { graphqlPath } from '../../services/contracts/token.ts';
import { openSession, type RawRequest, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { writeCall } from './graphql-walk.ts';
import { Platform, startTimeoutMs, testTimeoutMs, withJson } from './platform.ts';
import { SecretSearch } from './secret-search.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** Finds all keys that were used in any place. */
const search = new SecretSearch();

function sought(key: string): string {
  search.seek({ name: key, value: key });
  return key;
}

/** A new key each time: once stored in the place of a name, a key is a name from then on. */
const kinds = {
  'a user key': () => sought(newKey('user').reveal()),
  'an older key': () => sought(`USK-${newKey('user').reveal().slice(-24)}`),
  'a workspace key': () => sought(`WSK_${newKey('user').reveal().slice(4)}`),
};

const schema = createSchema();
let platform: Platform;
let backend: string;
let workspace: string;
let token: () => string;
let good: string;
let session: string;

beforeAll(async () => {
  platform = await Platform.start({ settings: (yaml) => yaml.replace('level: info', 'level: trace') });
  backend = `http://127.0.0.1:${platform.ports.backend}`;
  token = operatorTokens(platform.installation, undefined);
  workspace = await platform.workspace();
  good = sought(await platform.addKey('agent'));
  session = await openSession(platform.mcpUrl, good);
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

async function ask(query: string, variables?: object): Promise<string> {
  return (await send(`${backend}${graphqlPath}`, { key: token(), body: { query, variables } })).text;
}

/** No part of the key that would help to guess the rest; only the prefix may appear. */
function expectNothingOf(key: string, output: string): void {
  const [prefixLength, partLength] = [4, 8];
  // The last part is one letter shorter.
  for (let from = prefixLength; from + partLength - 1 <= key.length; from++) {
    expect(output).not.toContain(key.slice(from, from + partLength));
  }
}

/** A value of a type, in which every text is the key. */
function sample(given: GraphQLInputType, key: string): unknown {
  const type = getNamedType(given);
  if (isEnumType(type)) return type.getValues()[0]?.value;
  if (!isInputObjectType(type)) return { Int: 1, Float: 1, Boolean: true }[type.name] ?? key;
  return Object.fromEntries(Object.values(type.getFields()).map((one) => [one.name, sample(one.type, key)]));
}

/** A key in a wrong place is still a secret: no answer repeats it. */
describe.each(Object.entries(kinds))('%s', (_kind, newOne) => {
  test('in any argument of any query and mutation', async () => {
    const key = newOne();
    let refused = 0;
    for (const type of ['Query', 'Mutation']) {
      const fields = (type === 'Query' ? schema.getQueryType() : schema.getMutationType())?.getFields() ?? {};
      for (const { name, args } of Object.values(fields)) {
        const filled = Object.fromEntries(args.map((arg) => [arg.name, sample(arg.type, key)]));
        for (const of of [key, workspace]) {
          const call = writeCall(schema, type, name, { ...filled, workspace: of });
          const answer = await ask(`${type.toLowerCase()} { ${call} }`);
          if (answer.includes('"errors"')) refused++;
          expectNothingOf(key, answer);
        }
      }
    }
    expect(refused).toBeGreaterThan(30);
  });

  test.each([
    [
      'in an argument of a field further in',
      '{ workspace(id: $w) { skill(id: $k) { id } roles(after: $k) { nodes { id } } } }',
    ],
    ['as a variable', 'query ($k: Int) { workspaces(first: $k) { nodes { id } } }'],
    ['as a name', '{ $word }'],
    ['as the name of an argument', '{ workspaces($word: 1) { nodes { id } } }'],
    ['as an alias of what fails', 'mutation { $word: removeSkill(workspace: "x", id: "y") }'],
    [
      'as a value of an enum',
      'mutation { createKey(workspace: $w, input: { name: "x", disclosure: $word }) { key { id } } }',
    ],
    ['as no GraphQL', '$k'],
  ])('%s', async (_what, text) => {
    const key = newOne();
    const word = key.replaceAll('-', '_');
    const query = text.startsWith('query')
      ? text
      : text
          .replaceAll('$word', word)
          .replaceAll('$k', JSON.stringify(key))
          .replaceAll('$w', JSON.stringify(workspace));
    const answer = await ask(query, { k: key });
    expect(answer).toContain('"errors"');
    expectNothingOf(key, answer);
    expectNothingOf(word, answer);
  });

  test('in any address, in the body, and in any part of a request of MCP', async () => {
    const key = newOne();
    const expectHidden = async (url: string, request: RawRequest) =>
      expectNothingOf(key, (await send(url, request)).text);
    for (const port of Object.values(platform.ports)) {
      await expectHidden(`http://127.0.0.1:${port}/x/${key}?k=${key}`, { method: 'GET' });
    }
    for (const body of [key, JSON.stringify(key), `{"query":${key}}`, { query: 1, [key]: key }]) {
      await expectHidden(`${backend}${graphqlPath}`, { key: token(), body });
    }
    await expectHidden(`${backend}${graphqlPath}`, { key, body: { query: '{ viewer { id } }' } });
    await expectHidden(`${backend}/internal/catalogue/${key}`, { method: 'GET', key });

    const call = (name: string, args: object) => rpc('tools/call', { name, arguments: args });
    for (const body of [
      rpc(key),
      rpc('tools/list', { cursor: key }),
      rpc('logging/setLevel', { level: key }),
      call(key, {}),
      call('call_tool', { name: key }),
      call('load_skill', { skill: key }),
      call('list_skills', { query: key }),
      call('list_skills', { cursor: key }),
      call('activate_role', { role: key }),
      key,
      `{"jsonrpc":"${key}","id":1,"method":"ping"}`,
      { jsonrpc: '2.0', id: 1, method: key, params: key },
    ]) {
      await expectHidden(platform.mcpUrl, { key: good, session, body });
    }
    const clientInfo = { name: key, version: key };
    const initialize = rpc('initialize', { protocolVersion: key, capabilities: {}, clientInfo });
    await expectHidden(`${platform.mcpUrl}?skillIds=${key}&roleIds=${key}`, { key: good, body: initialize });
    for (const name of ['mcp-protocol-version', 'mcp-session-id', 'origin', 'accept', 'content-type']) {
      await expectHidden(platform.mcpUrl, { key: good, session, headers: { [name]: key }, body: rpc('tools/list') });
    }
    await expectHidden(platform.mcpUrl, { key, body: rpc('ping') });
    await expectHidden(platform.mcpUrl, { headers: { authorization: key }, body: rpc('ping') });
  });
});

const commands = [
  'KEY',
  'keys KEY',
  'up KEY',
  'up --KEY',
  'status --dir KEY',
  'init KEY --topology KEY',
  'server show KEY',
  'server remove KEY',
  'server add x --url KEY',
  'server add x --workspace KEY -- true',
  'server add x --runtime KEY -- true',
  'skill create x --tool KEY/x',
  'role create x --skill KEY',
  'role list --workspace KEY',
  'keys create KEY',
  'keys create x --disclosure KEY',
  'keys show KEY',
  'keys update KEY --all-roles',
  'keys update x --name KEY',
  'keys rotate KEY',
  'keys import KEY',
  'keys import x --key-file KEY',
  'keys explain KEY',
  'keys explain --key-file KEY',
  'keys create --name x --role KEY',
  'keys create --name x --expires KEY',
  'keys revoke KEY',
  'keys test KEY',
  'keys test --url KEY',
  'apply KEY',
  'logs KEY',
  'logs --level KEY',
  'logs --since KEY',
];

/**
 * All messages of svc hide keys in one way (contracts/errors.ts), so output for people is tested with one kind and
 * JSON with another.
 */
test.each(commands)('svc %s', async (command) => {
  const [user, older] = [kinds['a user key'](), kinds['an older key']()];
  const typed = (key: string) => command.replaceAll('KEY', key).split(' ');
  const expectHidden = async (key: string, args: readonly string[]) => {
    const { code, stdout, stderr } = await platform.run(args, { env: { SVC_DEBUG: '1' } });
    expect(code).not.toBe(0);
    expectNothingOf(key, stdout + stderr);
  };
  await Promise.all([expectHidden(user, typed(user)), expectHidden(older, withJson(typed(older)))]);
});

test('the logs have none of them', () => {
  const { logsDir } = platform.installation;
  const logs = ['backend', 'remote-mcp'].map((name) => readFileSync(join(logsDir, `${name}.log`), 'utf8')).join('');
  expect(logs).toContain('"level":"debug"');
  expect(logs).toContain('SVA_…');
  expect(search.inFolder(logsDir)).toEqual([]);
});
