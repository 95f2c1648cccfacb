import { expect, test } from 'vitest';
import { NobodyAnswers } from '../../kit/bus/bus.ts';
import { httpMcpServer } from './http-mcp-server.ts';
import { Platform, script } from './platform.ts';

const thrownBy = (asked: Promise<unknown>) => asked.catch((thrown: unknown) => thrown);

test('a stop withdraws the reports, and answers callers that have not received that', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo', ['one']) });
  const running = await platform.startRuntime();
  await platform.connected('one');
  const stopped = running.stop();
  let answered = 0;
  for (; platform.isReported(platform.idOf('one')); answered++) {
    expect(await platform.say('one', { text: 'x' })).toBe('one: x');
  }
  // A remote-mcp may have sent a call before it received news of the stop.
  expect(await platform.say('one', { text: 'late' })).toBe('one: late');
  expect(answered).toBeGreaterThan(0);
  expect(platform.reports.at(-1)).toEqual({ complete: true, mcpServers: [] });
  await stopped;
  expect(await thrownBy(platform.say('one', { text: 'x' }))).toBeInstanceOf(NobodyAnswers);
});

test('a running call ends before the runtime does, and no other is taken meanwhile', async () => {
  const finish = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  using server = await httpMcpServer(async ({ method, params }) => {
    if (method !== 'tools/call' || JSON.stringify(params).includes('short')) return undefined;
    begun.resolve();
    await finish.promise;
    return undefined;
  });
  await using platform = await Platform.open();
  platform.assign({ one: server.launch() });
  const running = await platform.startRuntime();
  await platform.connected('one');
  const underWay = platform.say('one', { text: 'long' });
  await begun.promise;
  const stopped = running.stop();
  await platform.until(() => (platform.reports.at(-1)?.mcpServers.length === 0 ? true : null));
  for (let asked: unknown = null; !(asked instanceof NobodyAnswers); ) {
    asked = await thrownBy(platform.say('one', { text: 'short' }));
    expect(asked === '{"text":"short"}' || asked instanceof NobodyAnswers).toBe(true);
  }
  finish.resolve();
  expect(await underWay).toBe('{"text":"long"}');
  await stopped;
});

test('an unfinished call is ended by name when its time is over', async () => {
  await using platform = await Platform.open();
  platform.drainMs = 50;
  platform.assign({ one: script('hang') });
  const running = await platform.startRuntime({ HEARTBEAT_INTERVAL: '50' });
  await platform.connected('one');
  const hanging = thrownBy(platform.callTool('one', 'echo', { text: 'hang' }));
  await platform.until(() => (platform.heartbeats.at(-1)?.inFlight === 1 ? true : null));
  await running.stop();
  expect(await hanging).toMatchObject({ code: 'unavailable', message: 'MCP server "one" has been stopped.' });
});

test.each(['is not there', 'answers nothing'])('a backend that %s delays no stop', async (what) => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  const running = await platform.startRuntime();
  await platform.connected('one');
  if (what === 'is not there') await platform.backend.close();
  else await platform.hang();
  const before = performance.now();
  await running.stop();
  // Only the report waits, for two seconds.
  expect(performance.now() - before).toBeLessThan(6000);
});
