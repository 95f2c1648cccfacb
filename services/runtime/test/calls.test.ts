import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import { newId } from '../../contracts/ids.ts';
import type { Reply } from '../../kit/bus/bus.ts';
import { CallRefused } from '../supervisor/call-refused.ts';
import { Platform, script } from './platform.ts';

const textOf = (reply: Reply) => Buffer.from(reply.payload).toString();
const kindOf = (reply: Reply) => reply.headers[callHeader.kind];

async function running(
  launches: Parameters<Platform['assign']>[0],
  env = {},
  awaited = Object.keys(launches),
): Promise<Platform> {
  const platform = await Platform.open();
  platform.assign(launches);
  await platform.startRuntime(env);
  await Promise.all(awaited.map((name) => platform.connected(name)));
  return platform;
}

test('two MCP servers with tools of the same name never conflict', async () => {
  await using platform = await running({ one: script('echo', ['one']), two: script('echo', ['two']) });
  const said = await Promise.all(
    Array.from({ length: 50 }, (_, i) => platform.say(i % 2 === 0 ? 'one' : 'two', { text: i })),
  );
  expect(said).toEqual(Array.from({ length: 50 }, (_, i) => `${i % 2 === 0 ? 'one' : 'two'}: ${i}`));
});

test('params and results pass unchanged', async () => {
  await using platform = await running({ one: script('echo') });
  const params = '{"name":"params",\r\n "arguments": {"big": 12345678901234567890, "text": "line\\nbreak é 🎈"}}';
  const reply = await platform.ask('one', 'tools/call', params);
  expect(kindOf(reply)).toBe('result');
  const [{ text }] = JSON.parse(textOf(reply)).content;
  expect(JSON.parse(text).given.text).toBe('line\nbreak é 🎈');
});

test('an error of the MCP server is passed on unchanged', async () => {
  await using platform = await running({ one: script('echo') });
  const reply = await platform.ask('one', 'resources/list', '{}');
  expect([kindOf(reply), textOf(reply)]).toEqual(['error', '{"code":-32601,"message":"There is no resources/list."}']);
});

test('a result of 1 MB passes, and one of 15 MB', async () => {
  await using platform = await running({ one: script('echo') });
  for (const bytes of [1_000_000, 15_000_000]) {
    expect(await platform.say('one', { bytes }, 'large')).toHaveLength(bytes);
  }
});

test('a line of 50 MB is answered as too large, and costs other calls nothing', { timeout: 30_000 }, async () => {
  await using platform = await running({ long: script('long-line'), one: script('echo', ['one']) });
  const before = process.memoryUsage.rss();
  const huge = platform.callTool('long', 'echo', { megabytes: 50 });
  const others = Promise.all(Array.from({ length: 20 }, () => platform.say('one', { text: 'x' })));
  await expect(huge).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('"long"') });
  expect(await others).toHaveLength(20);
  expect(process.memoryUsage.rss() - before).toBeLessThan(80_000_000);
  expect(await platform.callTool('long', 'echo', { megabytes: 1 })).toMatchObject({ content: [{ type: 'text' }] });
  expect(await platform.connected('long')).toMatchObject({ restarts: 0 });
});

test('lines that are not messages are skipped; many of them show as degraded', async () => {
  await using platform = await running({ noisy: script('garbage') }, { LOG_LEVEL: 'debug' });
  expect(await platform.reported('noisy', ({ health }) => health === 'green')).toBeDefined();
  expect(await platform.say('noisy', { text: '100' })).toBe('done');
  const degraded = await platform.reported('noisy', ({ health }) => health === 'yellow');
  expect(degraded).toMatchObject({ status: 'Connected', reason: { code: 'not_only_mcp' } });
  expect(platform.logOf('supervisor').some(({ sample }) => sample === 'Welcome!')).toBe(true);
});

describe('a call without an answer', () => {
  test('ends at its deadline, and the MCP server is notified', async () => {
    await using platform = await running({ one: script('hang') });
    const hanging = platform.callTool('one', 'echo', { text: 'hang' }, { timeoutMs: 100 });
    await expect(hanging).rejects.toMatchObject({ code: 'timeout' });
    expect(await platform.say('one', { text: 'cancelled' })).toBe('["hang"]');
  });

  test('ends when it is cancelled, and the MCP server is notified', async () => {
    await using platform = await running({ one: script('hang') });
    const cancel = new AbortController();
    const hanging = platform.callTool('one', 'echo', { text: 'hang' }, { signal: cancel.signal });
    expect(await platform.say('one', { text: 'meanwhile' })).toBe('meanwhile');
    cancel.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'cancelled' });
    expect(await platform.say('one', { text: 'cancelled' })).toBe('["hang"]');
  });

  test('leaves room for others up to a limit, then further ones are refused', async () => {
    await using platform = await running({ one: script('hang'), two: script('echo', ['two']) });
    const cancel = new AbortController();
    const hanging = Array.from({ length: 256 }, () =>
      platform.callTool('one', 'echo', { text: 'hang' }, { signal: cancel.signal }).catch(() => 'cancelled'),
    );
    const refused = platform.callTool('one', 'echo', { text: 'one more' });
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited', message: expect.stringContaining('"one"') });
    await expect(refused).rejects.toBeInstanceOf(CallRefused);
    expect(await platform.say('two', { text: 'free' })).toBe('two: free');
    cancel.abort();
    expect(await Promise.all(hanging)).toEqual(hanging.map(() => 'cancelled'));
    expect(await platform.say('one', { text: 'free again' })).toBe('free again');
  });
});

test('a child that does not read makes its calls wait until their deadline, in bounded memory', {
  timeout: 20_000,
}, async () => {
  await using platform = await running({ deaf: script('deaf'), one: script('echo', ['one']) });
  const text = 'x'.repeat(8_000_000);
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () =>
      platform.callTool('deaf', 'echo', { text }, { timeoutMs: 1000 }).catch(({ code }) => code),
    ),
  );
  expect(new Set(outcomes)).toEqual(new Set(['timeout', 'rate_limited']));
  expect(await platform.say('one', { text: 'free' })).toBe('one: free');
});

test('a child that crashes fails its calls at once, by name, and restarts by itself', async () => {
  await using platform = await running({
    one: script('crash', [], { TOKEN: 's3cr3t-t0k3n' }),
    two: script('echo', ['two']),
  });
  const connections = () => platform.logOf('supervisor').filter((line) => line.msg === 'connected').length;
  const before = connections();
  const crashing = platform.callTool('one', 'echo', { text: 'crash' });
  await expect(crashing).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/"one" is restarting.*exit code 7/),
  });
  // The failure came before the restart, which takes a quarter of a second at least.
  expect(connections()).toBe(before);
  // A call that arrives meanwhile waits for it.
  expect(await platform.say('one', { text: 'back' })).toBe('back');
  expect(connections()).toBe(before + 1);
  const report = await platform.reported('one', ({ status, restarts }) => status === 'Connected' && restarts === 1);
  expect(report).toMatchObject({ health: 'yellow', reason: { code: 'restarted' } });
  expect(report.reason?.message).toContain('exit code 7');
  expect(await platform.say('two', { text: 'untouched' })).toBe('two: untouched');
  expect(JSON.stringify(report)).not.toContain('s3cr3t-t0k3n');
});

describe('progress', () => {
  test('reaches its call before the result; a notification without a call is dropped', async () => {
    await using platform = await running({ one: script('progress') });
    const heard: unknown[] = [];
    const params = JSON.stringify({ name: 'echo', arguments: {}, _meta: { progressToken: 7 } });
    const reply = await platform.ask('one', 'tools/call', params, {
      headers: { [callHeader.progress]: '7' },
      onInterim: (interim) => heard.push([kindOf(interim), JSON.parse(textOf(interim)).params]),
    });
    expect(heard).toEqual([1, 2, 3].map((progress) => ['notification', { progressToken: 7, progress, total: 3 }]));
    const answers = JSON.parse(JSON.parse(textOf(reply)).content[0].text);
    expect(answers).toEqual([
      { id: 'q1', result: {} },
      { id: 'q2', code: -32601 },
    ]);
  });

  test('of two calls with the same token reaches each its own, under that token', async () => {
    await using platform = await running({ one: script('progress') });
    const call = async (steps: number) => {
      const heard: unknown[] = [];
      const params = JSON.stringify({ name: 'echo', arguments: { steps }, _meta: { progressToken: 'same' } });
      await platform.ask('one', 'tools/call', params, {
        headers: { [callHeader.progress]: 'same' },
        onInterim: (interim) => heard.push(JSON.parse(textOf(interim)).params),
      });
      return heard;
    };
    const all = await Promise.all([call(1), call(2), call(3)]);
    expect(all.map((heard) => heard.length)).toEqual([1, 2, 3]);
    for (const { progressToken } of all.flat() as { progressToken: unknown }[]) expect(progressToken).toBe('same');
  });

  test('in a flood is thinned out, and delays nothing', async () => {
    await using platform = await running({ one: script('progress') });
    const params = JSON.stringify({ name: 'echo', arguments: { steps: 1000 }, _meta: { progressToken: 1 } });
    let heard = 0;
    await platform.ask('one', 'tools/call', params, {
      headers: { [callHeader.progress]: '1' },
      onInterim: () => heard++,
    });
    expect(heard).toBeGreaterThan(60);
    expect(heard).toBeLessThan(1000);
  });
});

test('a name without an MCP server of this runtime is refused', async () => {
  await using platform = await running({ one: script('echo') });
  const named = (server: string) =>
    platform.ask('one', 'tools/call', '{}', { headers: { [callHeader.server]: server } });
  await expect(named('')).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(named(newId('mcpServer'))).rejects.toMatchObject({ code: 'unavailable' });
  await expect(platform.ask('one', 'tools"call', '{}')).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a call that its MCP server did not receive is refused as such, so that another process may take it, and no other', async () => {
  await using platform = await running({ one: script('crash'), two: script('exits', ['1']) }, {}, ['one']);
  await platform.reported('two', ({ status }) => status === 'Error');
  const thrownBy = (asked: Promise<unknown>) => asked.catch((thrown: unknown) => thrown);
  const refused = [
    platform.ask('one', 'tools/call', '{}', { headers: { [callHeader.server]: newId('mcpServer') } }),
    platform.say('two', {}),
  ];
  for (const asked of refused) expect(await thrownBy(asked)).toBeInstanceOf(CallRefused);
  const crashing = await thrownBy(platform.callTool('one', 'echo', { text: 'crash' }));
  expect(crashing).toMatchObject({ code: 'unavailable' });
  expect(crashing).not.toBeInstanceOf(CallRefused);
});

test('a foreign MCP server', { timeout: 20_000 }, async () => {
  const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  await using platform = await running({
    everything: { kind: 'child', command: 'node', args: [everything, 'stdio'], cwd: null, env: {} },
  });
  const { tools } = await platform.connected('everything');
  expect(tools.map(({ name }) => name)).toContain('echo');
  expect(await platform.say('everything', { message: 'hi' })).toBe('Echo: hi');
  const image = await platform.callTool('everything', 'get-tiny-image');
  expect(JSON.stringify(image)).toContain('image/png');
  const heard: string[] = [];
  const params = {
    name: 'trigger-long-running-operation',
    arguments: { duration: 0.2, steps: 2 },
    _meta: { progressToken: 'p1' },
  };
  await platform.ask('everything', 'tools/call', JSON.stringify(params), {
    headers: { [callHeader.progress]: 'p1' },
    onInterim: (interim) => heard.push(textOf(interim)),
  });
  expect(heard).toHaveLength(2);
});
