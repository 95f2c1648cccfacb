import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Platform, startPlatform, until } from './platform.ts';
import { notify, result, rpcError, tool } from './runtime.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let key: string;

beforeAll(async () => {
  platform = await startPlatform();
  const workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('echo'), tool('slow')]);
  await workspace.role('All', [await workspace.skill('all', ['files/echo', 'files/slow'])]);
  key = (await workspace.key('agent')).text;
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.runtime.answer(async ({ params }) => result({ content: [{ type: 'text', text: params.arguments.text }] }));
});

async function connect(options: ConstructorParameters<typeof Client>[1] = {}, by = key) {
  const client = new Client({ name: 'test', version: '1' }, options);
  const requestInit = { headers: { Authorization: `Bearer ${by}` } };
  const transport = new StreamableHTTPClientTransport(new URL(platform.mcpUrl), { requestInit });
  await client.connect(transport);
  return { client, transport };
}

const textOf = (answer: unknown): string => JSON.parse(JSON.stringify(answer)).content[0].text;

test('connects, finds a skill, loads it, hears that the list changed, lists and calls', async () => {
  let changes = 0;
  const { client, transport } = await connect();
  client.setNotificationHandler('notifications/tools/list_changed', () => void changes++);
  expect(client.getServerVersion()).toMatchObject({ name: 'svc', version: '1.2.3' });
  expect((await client.listTools()).tools).toHaveLength(6);
  await until(async () => textOf(await client.callTool({ name: 'list_skills' })).includes('"all"'));
  await client.callTool({ name: 'load_skill', arguments: { skill: 'all' } });
  await until(() => changes === 1);
  expect((await client.listTools()).tools.map(({ name }) => name).slice(6)).toEqual(['echo', 'slow']);
  expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hello' } }))).toBe('hello');
  await client.ping();
  await transport.terminateSession();
  await client.close();
});

test('continues its session at another remote-mcp when its own stops, and receives changes there', async () => {
  const [leaving, staying] = [await platform.startAnother(), await platform.startAnother()];
  let at = leaving;
  const listening: string[] = [];
  /** Like a front: sends each request to a running remote-mcp. */
  const front: typeof fetch = async (_url, init) => {
    const { url } = at;
    const answer = await fetch(`${url}/mcp`, init);
    if (init?.method === 'GET' && answer.ok) listening.push(url ?? '');
    return answer;
  };
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL(platform.mcpUrl), { requestInit, fetch: front });
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => void changes++);
  await client.connect(transport);
  await until(async () => textOf(await client.callTool({ name: 'list_skills' })).includes('"all"'));
  await until(() => listening.length === 1);
  const { sessionId } = transport;
  at = staying;
  await leaving.stop();
  await client.callTool({ name: 'load_skill', arguments: { skill: 'all' } });
  await until(() => listening.length === 2);
  await until(() => changes > 0);
  expect([listening, transport.sessionId]).toEqual([[leaving.url, staying.url], sessionId]);
  const before = changes;
  await client.callTool({ name: 'deactivate_role', arguments: { role: 'All' } });
  await until(() => changes > before);
  expect((await client.listTools()).tools).toHaveLength(6);
  await transport.terminateSession();
  await client.close();
});

test('gets progress, and the result after it', async () => {
  const { client } = await connect();
  platform.runtime.answer(async (call, request) => {
    for (const progress of [1, 2, 3]) {
      await notify(request, 'notifications/progress', { progressToken: call.progress, progress, total: 3 });
    }
    return result({ content: [{ type: 'text', text: 'done' }] });
  });
  const seen: number[] = [];
  const answer = await client.callTool({ name: 'slow' }, { onprogress: ({ progress }) => void seen.push(progress) });
  expect([textOf(answer), seen]).toEqual(['done', [1, 2, 3]]);
  await client.close();
});

test('cancels, which ends the call at its MCP server', async () => {
  const { client } = await connect();
  let cancelled = false;
  const before = platform.runtime.calls.length;
  platform.runtime.answer(
    (_call, request) =>
      new Promise(() => {
        request.signal.addEventListener('abort', {
          handleEvent: () => {
            cancelled = true;
          },
        });
      }),
  );
  const controller = new AbortController();
  const calling = client.callTool({ name: 'slow' }, { signal: controller.signal });
  await until(() => platform.runtime.calls.length > before);
  controller.abort('no more');
  await expect(calling).rejects.toThrow();
  await until(() => cancelled);
  await client.close();
});

test('two agents with the same request ids get their own answers', async () => {
  const clients = await Promise.all([connect(), connect()]);
  const answers = await Promise.all(
    clients.flatMap(({ client }, i) =>
      Array.from({ length: 20 }, (_, j) => client.callTool({ name: 'echo', arguments: { text: `${i}-${j}` } })),
    ),
  );
  expect(answers.map(textOf)).toEqual([0, 1].flatMap((i) => Array.from({ length: 20 }, (_, j) => `${i}-${j}`)));
  for (const { client } of clients) await client.close();
});

test('sees errors of tools as results and errors of the protocol as errors', async () => {
  const { client } = await connect();
  platform.runtime.answer(async () => result({ content: [{ type: 'text', text: 'no such file' }], isError: true }));
  expect(await client.callTool({ name: 'echo' })).toMatchObject({ isError: true });
  platform.runtime.answer(async () => rpcError({ code: -32602, message: 'bad arguments' }));
  await expect(client.callTool({ name: 'echo' })).rejects.toThrow(/bad arguments/);
  await expect(client.callTool({ name: 'nothing' })).rejects.toThrow(/Unknown tool: "nothing"/);
  await client.close();
});

test('binary content and a result of 1 MB arrive unchanged', async () => {
  const { client } = await connect();
  const data = Buffer.alloc(750_000, 0xfe).toString('base64');
  platform.runtime.answer(async () => result({ content: [{ type: 'image', data, mimeType: 'image/png' }] }));
  const answer = JSON.parse(JSON.stringify(await client.callTool({ name: 'echo' })));
  expect(answer.content[0].data === data).toBe(true);
  await client.close();
});

test('a client that asks for the newest protocol first falls back to a session', async () => {
  const { client } = await connect({ versionNegotiation: { mode: 'auto' } });
  expect((await client.listTools()).tools).toHaveLength(6);
  await client.close();
});

test('with a wrong key it gets a clear error', async () => {
  await expect(connect({}, `${key}x`)).rejects.toThrow(/401|Unauthorized|length/i);
});
