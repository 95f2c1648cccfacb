import { describe, expect, onTestFinished, test } from 'vitest';
import { Platform, script } from './platform.ts';

test('a runtime sends a heartbeat every HEARTBEAT_INTERVAL', async () => {
  await using platform = await Platform.open();
  await platform.startRuntime({ HEARTBEAT_INTERVAL: '50' });
  await platform.until(() => (platform.heartbeats.length > 0 ? true : null));
  // A second timer with the same interval: a busy machine delays both alike.
  let ticks = 0;
  const timer = setInterval(() => ticks++, 50);
  onTestFinished(() => clearInterval(timer));
  await platform.until(() => (platform.heartbeats.length >= 4 ? true : null));
  const [first, , , fourth] = platform.heartbeats;
  expect(first).toMatchObject({ intervalMs: 50, version: '1.2.3', inFlight: 0 });
  expect((fourth?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(140);
  expect(ticks).toBeLessThanOrEqual(6);
});

test('a backend that asks for everything gets a heartbeat at once', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  await platform.startRuntime({ HEARTBEAT_INTERVAL: '60000' });
  await platform.connected('one');
  const before = platform.heartbeats.length;
  platform.command({ kind: 'assignments' });
  await platform.until(() => (platform.heartbeats.length > before ? true : null));
});

test('a heartbeat has the number of running calls', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('hang') });
  await platform.startRuntime({ HEARTBEAT_INTERVAL: '50' });
  await platform.connected('one');
  const cancel = new AbortController();
  const hanging = platform
    .callTool('one', 'echo', { text: 'hang' }, { signal: cancel.signal })
    .catch(() => 'cancelled');
  await platform.until(() => (platform.heartbeats.at(-1)?.inFlight === 1 ? true : null));
  cancel.abort();
  await hanging;
  await platform.until(() => (platform.heartbeats.at(-1)?.inFlight === 0 ? true : null));
});

test('the first report is complete, and one about a change is not', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo'), two: script('crash') });
  await platform.startRuntime();
  await platform.connected('one');
  const { startedAt } = await platform.connected('two');
  await expect(platform.say('two', { text: 'crash' })).rejects.toThrow();
  await platform.reported('two', (two) => two.status === 'Connected' && two.startedAt !== startedAt);
  const [first, ...others] = platform.reports;
  expect(first).toMatchObject({ complete: true, mcpServers: [platform.idOf('one'), platform.idOf('two')] });
  expect(platform.reports.at(-1)).toEqual({ complete: false, mcpServers: [platform.idOf('two')] });
  expect(others.every(({ complete }) => !complete)).toBe(true);
});

test('a runtime that starts before the backend and its key connects as soon as both are there', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo', ['one']) });
  await platform.backend.close();
  const running = await platform.startRuntime({ REMOTE_PORT: '0' });
  const ready = await fetch(`${running.url}/ready`);
  expect([ready.status, JSON.stringify(await ready.json())]).toEqual([503, expect.stringContaining('No backend')]);
  await platform.startBackend();
  await platform.connected('one');
  expect(await platform.say('one', { text: 'x' })).toBe('one: x');
});

test('a new backend gets a report of everything, tools too', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  await platform.startRuntime();
  const before = await platform.connected('one');
  platform.forget();
  platform.command({ kind: 'assignments' });
  const after = await platform.connected('one');
  expect(after.tools).toEqual(before.tools);
  expect(platform.reports.at(-1)?.complete).toBe(true);
});

test('after its connection was ended it returns with its MCP servers, and reports everything again', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo', ['one']) });
  await platform.startRuntime();
  const before = await platform.connected('one');
  platform.forget();
  await platform.backend.disconnect(platform.runtime);
  const after = await platform.connected('one');
  expect(after).toMatchObject({ startedAt: before.startedAt, tools: before.tools });
  expect(await platform.say('one', { text: 'x' })).toBe('one: x');
});

test('a failed report is repeated later', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  platform.refuseReports = 2;
  await platform.startRuntime({ LOG_LEVEL: 'debug' });
  expect((await platform.connected('one')).tools).toHaveLength(4);
  expect(platform.refuseReports).toBe(0);
  const failures = platform.logOf('bus').filter(({ msg }) => msg === 'failed to report');
  expect(failures.map(({ level }) => level)).toEqual(['warn', 'debug']);
  expect(platform.reports[0]?.complete).toBe(true);
});

test('sends few messages a second, however many changes there are', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  await platform.startRuntime();
  await platform.connected('one');
  const count = () => ({
    beats: platform.heartbeats.length,
    questions: platform.handshakes + platform.reports.length,
  });
  let round = 0;
  const changeFor = async (ms: number) => {
    const began = performance.now();
    while (performance.now() - began < ms) {
      platform.assign({ one: script('echo'), [`another${round++}`]: script('exits') });
      platform.command({ kind: 'assignments' });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  // The first changes may be reported sooner.
  await changeFor(1500);
  const before = count();
  const began = performance.now();
  await changeFor(2000);
  const seconds = (performance.now() - began) / 1000;
  const after = count();
  // The bus's limit for an honest process (kit/bus/senders.ts).
  expect((after.beats - before.beats) / seconds).toBeLessThanOrEqual(20);
  expect((after.questions - before.questions) / seconds).toBeLessThanOrEqual(10);
  expect(platform.handshakes).toBeGreaterThan(4);
});

describe('a revoked runtime', () => {
  test('stops its MCP servers and reports it', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('stubborn') });
    const running = await platform.startRuntime({ REMOTE_PORT: '0' });
    await platform.connected('one');
    const pid = Number(await platform.say('one', {}));
    platform.revoked = true;
    const asked = platform.handshakes;
    platform.command({ kind: 'assignments' });
    await platform.until(() => (platform.handshakes > asked + 1 ? true : null));
    await expect(platform.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
    const ready = await fetch(`${running.url}/ready`);
    expect([ready.status, JSON.stringify(await ready.json())]).toEqual([503, expect.stringContaining('revoked')]);
    await running.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

test('assignments sealed to another process are not accepted', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('echo') });
  platform.sealToSomebodyElse = true;
  const running = await platform.startRuntime({ REMOTE_PORT: '0' });
  await platform.until(() => (platform.handshakes > 1 ? true : null));
  expect(platform.reports).toEqual([]);
  const ready = await fetch(`${running.url}/ready`);
  expect(JSON.stringify(await ready.json())).toContain('not sealed to this process');
});
