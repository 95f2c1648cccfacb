import {
  buildClientSchema,
  type GraphQLInputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { graphqlPath } from '../../services/contracts/token.ts';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { type Arguments, placesOf, writeCall } from './graphql-walk.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A key that stands where something else is expected is somebody's secret all the same: no answer repeats it. */
function keysOfEveryKind(): [string, string][] {
  // Others each time: some stand where a name may, and are one from then on.
  return [
    ['a user key', newKey('user').reveal()],
    ['an older key', `USK-${newKey('user').reveal().slice(-24)}`],
    ['a workspace key', `WSK_${newKey('user').reveal().slice(4)}`],
  ];
}

let platform: Platform;
let workspace: string;
let token: () => string;
let schema: GraphQLSchema;

beforeAll(async () => {
  platform = await Platform.start();
  token = operatorTokens(platform.installation, undefined);
  workspace = JSON.parse(await ask('{ workspace(name: "Default") { id } }')).data.workspace.id;
  schema = buildClientSchema(JSON.parse(await ask(getIntrospectionQuery())).data);
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

async function ask(query: string, variables?: object): Promise<string> {
  const url = `http://127.0.0.1:${platform.ports.backend}${graphqlPath}`;
  return (await send(url, { key: token(), body: { query, variables } })).text;
}

/** Not even a part from which the rest could be looked for; the prefix alone may be told. */
function expectNothingOf(key: string, told: string): void {
  const [prefixLength, partLength] = [4, 8];
  // The last part is a letter shorter.
  for (let from = prefixLength; from + partLength - 1 <= key.length; from++) {
    expect(told).not.toContain(key.slice(from, from + partLength));
  }
}

describe.each(keysOfEveryKind())('%s in GraphQL', (_kind, key) => {
  test('in any argument of any query and mutation', async () => {
    let refused = 0;
    for (const place of placesOf(schema)) {
      const [, type = '', field = ''] = /^(\w+)\.(\w+)\(/.exec(place) ?? [];
      if (type !== 'Query' && type !== 'Mutation') continue;
      for (const of of [key, workspace]) {
        const call = writeCall(schema, type, field, filled(type, field, { key, workspace: of }));
        const told = await ask(`${type === 'Query' ? 'query' : 'mutation'} { ${call} }`);
        if (told.includes('"errors"')) refused++;
        expectNothingOf(key, told);
      }
    }
    expect(refused).toBeGreaterThan(50);
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
    ['as no GraphQL', '$k'],
  ])('%s', async (_what, text) => {
    const word = key.replaceAll('-', '_');
    const query = text.startsWith('query')
      ? text
      : text
          .replaceAll('$word', word)
          .replaceAll('$k', JSON.stringify(key))
          .replaceAll('$w', JSON.stringify(workspace));
    const told = await ask(query, { k: key });
    expect(told).toContain('"errors"');
    expectNothingOf(key, told);
    expectNothingOf(word, told);
  });
});

/** Every text is the key, but the workspace. */
function filled(type: string, field: string, values: { key: string; workspace: string }): Arguments {
  const object = type === 'Query' ? schema.getQueryType() : schema.getMutationType();
  const args = object?.getFields()[field]?.args ?? [];
  return Object.fromEntries(
    args.map((arg) => [arg.name, arg.name === 'workspace' ? values.workspace : sample(arg.type, values.key)]),
  );
}

function sample(given: GraphQLInputType, key: string): unknown {
  const type = getNullableType(given);
  if (isListType(type)) return [sample(type.ofType, key)];
  const named = getNamedType(type);
  if (isInputObjectType(named)) {
    return Object.fromEntries(Object.values(named.getFields()).map((one) => [one.name, sample(one.type, key)]));
  }
  return { Int: 1, Float: 1, Boolean: true }[named.name] ?? key;
}

describe.each(keysOfEveryKind())('%s over HTTP', (_kind, key) => {
  test.each(['backend', 'remote-mcp', 'runtime', 'frontend'] as const)('in an address of the %s', async (service) => {
    const { text } = await send(`http://127.0.0.1:${platform.ports[service]}/x/${key}?k=${key}`, { method: 'GET' });
    expectNothingOf(key, text);
  });

  test('in the body, or the address of a catalogue', async () => {
    const base = `http://127.0.0.1:${platform.ports.backend}`;
    for (const body of [key, JSON.stringify(key), `{"query":${key}}`, { query: 1, [key]: key }]) {
      expectNothingOf(key, (await send(`${base}${graphqlPath}`, { key: token(), body })).text);
    }
    expectNothingOf(key, (await send(`${base}/internal/catalogue/${key}`, { method: 'GET', key })).text);
  });
});

describe('MCP', () => {
  let good: string;
  let session: string;

  beforeAll(async () => {
    good = await platform.addKey('agent');
    session = await openSession(platform.mcpUrl, good);
  }, startTimeoutMs);

  test.each(keysOfEveryKind())('%s in any part of a request', async (_kind, key) => {
    const call = (name: string, args: object) => rpc('tools/call', { name, arguments: args });
    const bodies = [
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
    ];
    for (const body of bodies) expectNothingOf(key, (await send(platform.mcpUrl, { key: good, session, body })).text);
    const clientInfo = { name: key, version: key };
    const initialize = rpc('initialize', { protocolVersion: key, capabilities: {}, clientInfo });
    const url = `${platform.mcpUrl}?skillIds=${key}&roleIds=${key}`;
    expectNothingOf(key, (await send(url, { key: good, body: initialize })).text);
    for (const name of ['mcp-protocol-version', 'mcp-session-id', 'origin', 'accept', 'content-type']) {
      const answer = await send(platform.mcpUrl, {
        key: good,
        session,
        headers: { [name]: key },
        body: rpc('tools/list'),
      });
      expectNothingOf(key, answer.text);
    }
    expectNothingOf(key, (await send(platform.mcpUrl, { key, body: rpc('ping') })).text);
  });
});

describe('svc', () => {
  const commands = (key: string) => [
    [key],
    ['keys', key],
    ['up', key],
    ['up', `--${key}`],
    ['status', '--dir', key],
    ['init', key, '--topology', key],
    ['server', 'show', key],
    ['server', 'remove', key],
    ['server', 'add', 'x', '--url', key],
    ['server', 'add', 'x', '--workspace', key, '--', 'true'],
    ['server', 'add', 'x', '--runtime', key, '--', 'true'],
    ['skill', 'create', 'x', '--tool', `${key}/x`],
    ['role', 'create', 'x', '--skill', key],
    ['role', 'list', '--workspace', key],
    ['keys', 'create', '--name', 'x', '--role', key],
    ['keys', 'create', '--name', 'x', '--expires', key],
    ['keys', 'revoke', key],
    ['keys', 'test', key],
    ['keys', 'test', '--url', key],
    ['apply', key],
    ['logs', key],
    ['logs', '--level', key],
    ['logs', '--since', key],
  ];

  test.each(keysOfEveryKind())('%s in place of any word', { timeout: startTimeoutMs }, async (_kind, key) => {
    for (const args of commands(key)) {
      const end = args.indexOf('--');
      const asJson = end === -1 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)];
      const runs = [args, asJson].map((typed) => platform.run(typed, { env: { SVC_DEBUG: '1' } }));
      for (const { code, stdout, stderr } of await Promise.all(runs)) {
        expect(code, args.join(' ')).not.toBe(0);
        expectNothingOf(key, stdout + stderr);
      }
    }
  });
});
