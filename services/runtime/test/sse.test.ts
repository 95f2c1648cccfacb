import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import { event } from './http-mcp-server.ts';
import { Platform } from './platform.ts';
import { type SseServerOptions, sseMcpServer } from './sse-mcp-server.ts';

async function assigned(options: SseServerOptions = {}, headers: Record<string, string> = {}) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await sseMcpServer(options));
  const platform = stack.use(await Platform.open());
  platform.assign({ one: server.launch(headers) });
  await platform.startRuntime();
  return { server, platform, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const failed = ({ platform }: Awaited<ReturnType<typeof assigned>>) =>
  platform.reported('one', ({ status }) => status === 'Error');

describe('an MCP server over HTTP+SSE (MCP 2024-11-05)', () => {
  test.each([
    ['a path', undefined],
    ['a whole address', (port: number) => `http://127.0.0.1:${port}/messages/?a=b&c=%2F#no`],
  ])('is recognized and called at %s that it names, with the configured headers', async (_name, address) => {
    await using one = await assigned(address === undefined ? {} : { address }, { Authorization: 'Bearer t0k3n' });
    await one.platform.connected('one');
    expect(JSON.parse(await one.platform.say('one', { text: 'é' }))).toEqual({ text: 'é' });
    const called = one.server.asked.filter(({ message }) => message?.method === 'tools/call');
    expect(called).toMatchObject([{ method: 'POST', headers: { authorization: 'Bearer t0k3n' } }]);
    expect(called[0]?.url).toBe(address === undefined ? '/messages?session=1' : '/messages/?a=b&c=%2F');
    expect(one.server.asked.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  test.each([400, 404])('is recognized when it answers %s to a POST', async (refusal) => {
    await using one = await assigned({ refusal });
    await one.platform.connected('one');
  });

  test('reports progress of a call, and changed tools', async () => {
    let tools = ['echo'];
    await using one = await assigned({
      answer({ id, method, params }, stream) {
        if (method === 'tools/list') return { tools: tools.map((name) => ({ name, inputSchema: {} })) };
        if (method !== 'tools/call') return undefined;
        const { _meta } = params as { _meta: { progressToken: string } };
        const { progressToken } = _meta;
        stream.write(event({ method: 'notifications/progress', params: { progressToken, progress: 1 } }));
        stream.write(event({ id, result: { content: [] } }));
        return null;
      },
    });
    const { platform, server } = one;
    await platform.connected('one');
    const heard: string[] = [];
    const params = JSON.stringify({ name: 'echo', arguments: {}, _meta: { progressToken: 't' } });
    await platform.ask('one', 'tools/call', params, {
      headers: { [callHeader.progress]: 't' },
      onInterim: ({ payload }) => void heard.push(JSON.parse(Buffer.from(payload).toString()).method),
    });
    expect(heard).toEqual(['notifications/progress']);
    tools = ['echo', 'more'];
    server.streams.at(-1)?.write(event({ method: 'notifications/tools/list_changed' }));
    await platform.reported('one', (report) => report.tools.length === 2);
  });

  test('whose stream ends is started again', async () => {
    await using one = await assigned();
    await one.platform.connected('one');
    one.server.streams.at(-1)?.end();
    expect((await failed(one)).reason).toMatchObject({
      code: 'stream_closed',
      message: expect.stringContaining('closed its stream'),
    });
    await one.platform.connected('one');
    expect(one.server.streams).toHaveLength(2);
  });

  test('whose stream breaks during a call fails the call', async () => {
    await using one = await assigned({
      answer({ method }, stream) {
        if (method !== 'tools/call') return undefined;
        stream.destroy();
        return null;
      },
    });
    await one.platform.connected('one');
    await expect(one.platform.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('does not get its messages sent to another origin', async () => {
    const reached: unknown[] = [];
    const foreign = createServer((request) => void reached.push(request.headers)).listen(0, '127.0.0.1');
    await once(foreign, 'listening');
    const { port } = foreign.address() as AddressInfo;
    await using one = await assigned({ address: () => `http://127.0.0.1:${port}/messages` }, { Authorization: 'x' });
    const { reason } = await failed(one);
    expect(reason).toMatchObject({ code: 'address_foreign', message: expect.stringContaining('another origin') });
    expect(reached).toEqual([]);
    foreign.close();
  });

  test('loses a call whose answer is too large, and no other', async () => {
    await using one = await assigned({
      answer: ({ method, params }) =>
        method === 'tools/call' && JSON.stringify(params).includes('large')
          ? { large: 'x'.repeat(18_000_000) }
          : undefined,
    });
    const { platform } = one;
    await platform.connected('one');
    const large = platform.callTool('one', 'echo', { large: true }, { timeoutMs: 3000 });
    await expect(large).rejects.toMatchObject({ code: 'timeout' });
    expect(await platform.say('one', { small: 1 })).toBe('{"small":1}');
  });
});

test.each<[string, SseServerOptions]>([
  ['names no address', { address: () => '//' }],
  ['names an address without end', { address: () => `/${'x'.repeat(5000)}` }],
])('a stream that %s is not used', async (_name, options) => {
  await using one = await assigned(options);
  expect((await failed(one)).reason).toMatchObject({
    code: 'not_mcp',
    message: expect.stringContaining('nor with HTTP+SSE'),
  });
});
