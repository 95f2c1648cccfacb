import { expect, test, vi } from 'vitest';
import type { Assignment, Launch } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { createLog } from '../../kit/log.ts';
import type { ChannelListener } from '../launchers/channel.ts';
import { createChildLauncher } from '../launchers/child.ts';
import type { Launchers } from '../launchers/launch.ts';
import { createLook } from '../launchers/processes.ts';
import { createSpawnOpenly } from '../launchers/spawn-child.ts';
import { openTemporaryFolders } from '../launchers/temporary-folders.ts';
import { Supervisor } from '../supervisor/supervisor.ts';
import { writeAnswer } from '../wire/write-message.ts';
import { Platform, script } from './platform.ts';

const log = createLog({ service: 'runtime', level: 'error', destination: { write: () => {} } });

function assignment(launch: Launch): Assignment {
  return { mcpServer: newId('mcpServer'), workspace: newId('workspace'), name: 'one', configVersion: 1, launch };
}

/** Resolves with a report of the MCP server that matches. */
function supervising(launchers: Launchers, startMaxMs: number, one: Assignment) {
  const supervisor = new Supervisor({ launchers, version: '1', log, startMaxMs, callMaxMs: 60_000 });
  const reported = (status: string) =>
    new Promise<NonNullable<ReturnType<Supervisor['snapshot']>>>((resolve) => {
      supervisor.listen(() => {
        const snapshot = supervisor.snapshot(one.mcpServer);
        if (snapshot?.report.status === status) resolve(snapshot);
      });
    });
  return { supervisor, reported };
}

test('a silent MCP server is abandoned at the start deadline, and its process is ended', async () => {
  await using platform = await Platform.open();
  const { workingDir } = platform;
  const look = createLook();
  const notes = { open: async () => ({ born: async () => {}, remove: async () => {} }) };
  const inherited = { PATH: process.env.PATH ?? '' };
  const temporaryFolders = await openTemporaryFolders(workingDir);
  const child = createChildLauncher({
    places: { workingDir, sandbox: 'auto', userHome: null, temporaryFolders },
    inherited,
    forwarded: null,
    notes,
    log,
    spawnChild: createSpawnOpenly(look),
  });
  const one = assignment(script('silent'));
  const { supervisor, reported } = supervising({ child, http: () => expect.fail() }, 300, one);
  const failed = reported('Error');
  supervisor.apply([one]);
  expect((await failed).report.reason).toMatchObject({
    code: 'no_answer',
    message: 'It did not answer the MCP handshake within 0.3 s (startTimeout).',
  });
  await supervisor.stop(0);
  expect((await look()).filter(({ parent, mark }) => parent === process.pid && mark !== null)).toEqual([]);
});

test('its own start deadline replaces that of the platform', async () => {
  const silent: Launchers = {
    child: () => expect.fail(),
    http: async () => ({
      ok: true,
      channel: { send() {}, forget() {}, lastWords: () => [], stop: async () => {} },
    }),
  };
  const one = { ...assignment({ kind: 'http', url: 'http://one/', headers: {} }), startTimeout: 1 };
  const { supervisor, reported } = supervising(silent, 60_000, one);
  const failed = reported('Error');
  supervisor.apply([one]);
  expect((await failed).report.reason).toMatchObject({
    message: 'It did not answer the MCP handshake within 1 s (startTimeout).',
    repair: expect.stringMatching(/svc server update one --start-timeout 5$/),
  });
  await supervisor.stop(0);
});

/** An MCP server inside this process, whose every message a test sees. */
function scripted(answer: (method: string, listener: ChannelListener) => unknown): Launchers {
  return {
    child: () => expect.fail(),
    http: async ({ listener }) => ({
      ok: true,
      channel: {
        send(message, about) {
          const { id, method } = JSON.parse(message.toString());
          if (about.kind !== 'request') return;
          const result = answer(method, listener);
          if (result !== undefined)
            setImmediate(() => listener.message(writeAnswer(id, { result }).subarray(0, -1), null));
        },
        forget() {},
        lastWords: () => [],
        stop: async () => {},
      },
    }),
  };
}

const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} } };
const http: Launch = { kind: 'http', url: 'http://x', headers: {} };

test('an MCP server of an unknown revision is not used', async () => {
  const one = assignment(http);
  const launchers = scripted(() => ({ protocolVersion: '1999-01-01', capabilities: {} }));
  const { supervisor, reported } = supervising(launchers, 1000, one);
  const failed = reported('Error');
  supervisor.apply([one]);
  expect((await failed).report.reason).toMatchObject({
    code: 'revision_unknown',
    message: expect.stringContaining('1999-01-01'),
  });
  await supervisor.stop(0);
});

test('unusable tools are left out, and reported with the reason', async () => {
  const tools = [
    { name: 'good' },
    { name: 'good' },
    {},
    { name: 'x'.repeat(2000) },
    { name: 'fat', text: 'x'.repeat(2_000_000) },
  ];
  const one = assignment(http);
  const launchers = scripted((method) => (method === 'initialize' ? initialized : { tools }));
  const { supervisor, reported } = supervising(launchers, 1000, one);
  const connected = reported('Connected');
  supervisor.apply([one]);
  const { report, tools: listed } = await connected;
  expect(listed?.tools.map(({ name }) => name)).toEqual(['good']);
  await expect.poll(() => supervisor.snapshot(one.mcpServer)?.report.health).toBe('yellow');
  expect(supervisor.snapshot(one.mcpServer)?.report.reason?.message).toContain(
    '"good" because another tool has the same name and 3 others',
  );
  expect(report.status).toBe('Connected');
  await supervisor.stop(0);
});

test('an endless list of pages is read up to a limit', async () => {
  let page = 0;
  const one = assignment(http);
  const launchers = scripted((method) =>
    method === 'initialize' ? initialized : { tools: [{ name: `t${page}` }], nextCursor: String(page++) },
  );
  const { supervisor, reported } = supervising(launchers, 10_000, one);
  const connected = reported('Connected');
  supervisor.apply([one]);
  expect((await connected).tools?.tools).toHaveLength(1000);
  await supervisor.stop(0);
});

test('a call without an answer causes a ping at once', async () => {
  const asked: string[] = [];
  const one = assignment(http);
  const launchers = scripted((method) => {
    asked.push(method);
    if (method === 'initialize') return initialized;
    return method === 'tools/list' ? { tools: [] } : undefined;
  });
  const { supervisor, reported } = supervising(launchers, 1000, one);
  const connected = reported('Connected');
  supervisor.apply([one]);
  await connected;
  const late = new AbortController();
  const call = {
    method: 'tools/call',
    params: Buffer.from('{}'),
    progress: null,
    signal: late.signal,
    notify: () => {},
  };
  const answer = supervisor.call(one.mcpServer, call);
  late.abort(new SvcError('timeout', 'late'));
  await expect(answer).rejects.toMatchObject({ code: 'timeout' });
  await expect.poll(() => asked.at(-1)).toBe('ping');
  await supervisor.stop(0);
});

test('an MCP server that hangs is restarted even while it gets calls', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let [starts, pings] = [0, 0];
  const one = assignment(http);
  const launchers = scripted((method) => {
    if (method === 'ping') pings++;
    if (method === 'initialize') {
      starts++;
      return initialized;
    }
    return method === 'tools/list' ? { tools: [] } : undefined;
  });
  const { supervisor, reported } = supervising(launchers, 1000, one);
  const connected = reported('Connected');
  supervisor.apply([one]);
  await connected;
  const call = (signal: AbortSignal) =>
    supervisor
      .call(one.mcpServer, { method: 'tools/call', params: Buffer.from('{}'), progress: null, signal, notify() {} })
      .catch(({ code }) => code);
  const underWay = call(new AbortController().signal);
  const failed = reported('Error');
  // Each unanswered call causes a ping, which takes ten seconds: after sixty seconds no call can be the reason.
  for (let asked = 1; supervisor.snapshot(one.mcpServer)?.report.status === 'Connected' && asked < 10; asked++) {
    const late = new AbortController();
    const answer = call(late.signal);
    late.abort(new SvcError('timeout', 'late'));
    expect(await answer).toBe('timeout');
    await vi.waitFor(() => expect(pings).toBe(asked));
    await vi.advanceTimersByTimeAsync(10_001);
  }
  expect((await failed).report.reason).toMatchObject({ code: 'not_answering' });
  expect([6, 7]).toContain(pings);
  expect(await underWay).toBe('unavailable');
  await vi.waitFor(() => expect(supervisor.snapshot(one.mcpServer)?.report.status).toBe('Connected'));
  expect(starts).toBe(2);
  vi.useRealTimers();
  await supervisor.stop(0);
});
