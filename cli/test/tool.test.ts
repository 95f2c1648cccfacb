import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { mintMcpToken, operatorTokens } from '../../stack/client/operator-token.ts';
import { installationIn } from '../../stack/state/installation.ts';
import { until } from '../../stack/test/until.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const { dir, svc } = withRunningPlatform();
const json = async (...args: string[]) => JSON.parse((await svc(...args, '--json')).stdout);
const call = (tool: string, input: string, ...more: string[]) =>
  runSvc(['tool', 'call', tool, '--input', '-', ...more], { cwd: dir(), stdin: input });

/** An MCP server whose tool ends with an error of the protocol. */
const failing = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
  };
  const error = { code: -32603, message: 'no such host' };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(method in results ? { result: results[method] } : { error }) }));
});`;

beforeAll(async () => {
  const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
  await svc('server', 'add', 'demo', '--', process.execPath, demo);
  const { key } = await json('keys', 'create', '--name', 'laptop');
  writeFileSync(join(dir(), 'key.txt'), `${key}\n`);
}, 60_000);

describe('svc tool list', () => {
  test('lists the tools of all MCP servers, and of one', async () => {
    const { stdout } = await svc('tool', 'list');
    expect(stdout).toMatch(/^TOOL +NAME +STATE\ndemo\/add +add +available +Adds two numbers\.\n/);
    expect((await json('tool', 'list', 'demo')).tools[0]).toEqual({
      ...{ path: 'demo/add', name: 'add', description: 'Adds two numbers.', mcpServer: 'demo', available: true },
    });
    expect(await svc('tool', 'list', 'dmo')).toMatchObject({ code: 1, stderr: expect.stringMatching(/"demo"/) });
  });

  test('with a key lists what an agent sees', async () => {
    const { tools } = await json('tool', 'list', '--key-file', 'key.txt');
    expect(tools.map(({ name }: { name: string }) => name)).toContain('load_skill');
    expect(tools.map(({ name }: { name: string }) => name)).not.toContain('add');
  });
});

describe('svc tool call', () => {
  test('calls a tool of no skill as an operator, which usage shows', async () => {
    expect(await call('demo/add', '{"a":1,"b":2}')).toEqual({ code: 0, stdout: '3\n', stderr: '' });
    await until(async () => (await json('usage', '--by', 'key')).usage[0]?.name === 'operator');
  });

  test('answers the whole result as JSON', async () => {
    const { stdout } = await call('add', '{"a":1,"b":2}', '--json');
    const content = [{ type: 'text', text: '3' }];
    expect(JSON.parse(stdout)).toEqual({ tool: 'demo/add', result: { content, structuredContent: { sum: 3 } } });
  });

  test('shows progress beside the result', async () => {
    const { stdout, stderr } = await call('demo/slow_report', '{}');
    expect(stdout).toMatch(/^## Section 1\n/);
    expect(stderr).toMatch(/^· 1\/3 Writing section 1 of 3\.\n/);
  });

  test('ends with 1 after an error of the tool', async () => {
    expect(await call('demo/add', '{"a":"x","b":2}')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error of the tool: a and b must be numbers.\n',
    });
  });

  test('says that an error comes from the MCP server', async () => {
    await svc('server', 'add', 'failing', '--', process.execPath, '-e', failing);
    expect(await call('failing/ask', '{}')).toEqual({
      code: 4,
      stdout: '',
      stderr:
        'Error: The MCP server "failing" answered with an error: no such host\nRead what it wrote: svc server logs failing\n',
    });
    await svc('server', 'remove', 'failing', '--yes');
  });

  test('says that the MCP server of a tool offers none', async () => {
    await svc('server', 'add', 'broken', '--', process.execPath, '-e', 'process.exitCode = 3');
    expect(await call('broken/ask', '{}')).toEqual({
      code: 4,
      stdout: '',
      stderr: 'Error: The MCP server "broken" offers no tools: it is Error.\nShow why: svc server show broken\n',
    });
    await svc('server', 'remove', 'broken', '--yes');
  });

  test('with a key answers what an agent gets', async () => {
    expect(await call('demo/add', '{}', '--key-file', 'key.txt')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Error: Unknown tool: "add"\n/),
    });
    writeFileSync(join(dir(), 'bad.txt'), 'SVA_bad\n');
    expect(await call('demo/add', '{}', '--key-file', 'bad.txt')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^Error: The API key has the wrong length/),
    });
  });

  test.each([
    ['demo/ad', '{}', 1, /^Error: No MCP server offers the tool "demo\/ad"\. Did you mean "demo\/add"\?\n/],
    ['demo/add', '[1]', 2, /^Error: --input "-" must hold one JSON object/],
    ['demo/add', '{"a":', 2, /^Error: --input "-" must hold one JSON object/],
  ])('%s with %s is refused', async (tool, input, code, message) => {
    expect(await call(tool, input)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  });
});

describe("an operator's token for tools", () => {
  const post = async (url: string, token: string, body: object) => {
    const accept = 'application/json, text/event-stream';
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept };
    return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

  test('opens the address of agents, and nothing else', async () => {
    const { urls } = await json('status');
    const installation = installationIn(dir());
    const { workspaces } = await (
      await post(`${urls.api}/graphql`, operatorTokens(installation)(), { query: '{ workspaces { nodes { id } } }' })
    )
      .json()
      .then(({ data }) => data);
    const token = mintMcpToken(installation, workspaces.nodes[0].id);
    expect((await post(urls.mcp, token, ping)).status).toBe(200);
    expect((await post(`${urls.api}/graphql`, token, { query: '{ viewer { id } }' })).status).toBe(401);
    expect((await post(urls.mcp, operatorTokens(installation)(), ping)).status).toBe(401);
    const [head, claims, signature = ''] = token.split('.');
    const forged = `${head}.${claims}.${signature.slice(0, -4)}${signature.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    expect((await post(urls.mcp, forged, ping)).status).toBe(401);
  });

  test('reaches no tool of another workspace', async () => {
    const { urls } = await json('status');
    const installation = installationIn(dir());
    const query = 'mutation { createWorkspace(input: { name: "Other", ownerEmail: "a@example.com" }) { id } }';
    const made = await (await post(`${urls.api}/graphql`, operatorTokens(installation)(), { query })).json();
    const token = mintMcpToken(installation, made.data.createWorkspace.id);
    writeFileSync(join(dir(), 'other.txt'), token);
    const answer = await call('demo/add', '{"a":1,"b":2}', '--key-file', 'other.txt');
    expect(answer).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Error: Unknown tool: "add"\n/) });
  });
});
