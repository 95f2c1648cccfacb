import { describe, expect, test } from 'vitest';
import { startTestBackend } from './start-test-backend.ts';

const create = 'mutation ($w: ID!, $input: McpServerInput!) { createMcpServer(workspace: $w, input: $input) { id } }';
const update =
  'mutation ($w: ID!, $id: ID!, $input: McpServerPatch!) { updateMcpServer(workspace: $w, id: $id, input: $input) { id } }';

async function startWith(rule: string) {
  const backend = await startTestBackend({ MCP_SERVER_COMMANDS: rule });
  const { createWorkspace } = await backend.must(
    'mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@localhost" }) { id } }',
  );
  const w = createWorkspace.id;
  const { token: admin } = await backend.addMember(w, 'admin');
  const operator = await backend.operatorToken();
  let count = 0;
  return {
    stop: () => backend.stop(),
    read: (query: string) => backend.ask({ query, variables: { w }, token: operator }),
    create: async (launch: object, token = operator) => {
      const variables = { w, input: { name: `s${++count}`, launch } };
      return await backend.ask({ query: create, variables, token });
    },
    update: (id: string, launch: object) =>
      backend.ask({ query: update, variables: { w, id, input: { launch } }, token: operator }),
    admin,
  };
}

describe('MCP_SERVER_COMMANDS', () => {
  test('can be checked before a command is tried', async () => {
    const backend = await startWith('npx');
    const query = `query ($w: ID!) { workspace(id: $w) {
      allowed: launchRefusal(launch: { command: "npx" }) url: launchRefusal(launch: { url: "http://localhost:1/mcp" })
      refused: launchRefusal(launch: { command: "node" })
    } }`;
    const { data } = await backend.read(query);
    expect(data.workspace).toEqual({
      allowed: null,
      url: null,
      refused: 'Refused by the setting runtime.commands: the command "node" is not one of npx.',
    });
    await backend.stop();
  });

  test('none: MCP servers run no command, and no role changes that', async () => {
    const backend = await startWith('none');
    for (const token of [undefined, backend.admin]) {
      const answer = await backend.create({ command: 'node' }, token);
      expect(answer.code).toBe('forbidden');
      expect(answer.errors[0]?.message).toContain('runtime.commands');
      expect(answer.errors[0]?.extensions.hint).toContain('svc.yaml');
    }
    expect((await backend.create({ url: 'http://localhost:1/mcp' })).code).toBe(null);
    await backend.stop();
  });

  test('a list: these commands, at creation and at every change', async () => {
    const backend = await startWith('npx,uvx');
    const { data, code } = await backend.create({ command: 'npx' });
    expect(code).toBe(null);
    expect((await backend.create({ command: 'node' })).code).toBe('forbidden');
    expect((await backend.update(data.createMcpServer.id, { command: 'node' })).code).toBe('forbidden');
    expect((await backend.update(data.createMcpServer.id, { command: 'uvx' })).code).toBe(null);
    await backend.stop();
  });
});
