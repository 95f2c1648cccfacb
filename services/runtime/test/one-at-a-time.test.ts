import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Assignment } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import { createLog } from '../../kit/log.ts';
import type { Launchers } from '../launchers/launch.ts';
import { Supervisor } from '../supervisor/supervisor.ts';
import { writeAnswer } from '../wire/write-message.ts';

const log = createLog({ service: 'runtime', level: 'error', destination: { write: (line) => expect.fail(line) } });
const mcpServer = newId('mcpServer');
const workspace = newId('workspace');

function version(configVersion: number): Assignment {
  const launch = { kind: 'http' as const, url: `http://${configVersion}`, headers: {} };
  return { mcpServer, workspace, name: 'one', configVersion, launch };
}

/** MCP servers inside this process that answer everything but a call. They count how many live at once. */
function counting() {
  const living = new Set<string>();
  const seen = { most: 0, launched: 0 };
  const http: Launchers['http'] = async ({ launch, listener }) => {
    living.add(launch.url);
    seen.launched++;
    seen.most = Math.max(seen.most, living.size);
    return {
      ok: true,
      channel: {
        async send(_message, about) {
          if (about.kind !== 'request' || about.method === 'tools/call') return;
          const result =
            about.method === 'initialize'
              ? { protocolVersion: '2025-11-25', capabilities: { tools: {} } }
              : { tools: [] };
          await setImmediate();
          listener.message(writeAnswer(about.id, { result }), null);
        },
        async stop() {
          await setImmediate();
          living.delete(launch.url);
        },
        forget() {},
        lastWords: () => [],
      },
    };
  };
  const supervisor = new Supervisor({
    launchers: { child: () => expect.fail(), http },
    version: '1',
    log,
    startMaxMs: 5000,
    callMaxMs: 60_000,
  });
  const connected = async (configVersion: number) => {
    const isConnected = () => {
      const report = supervisor.snapshot(mcpServer)?.report;
      return report?.configVersion === configVersion && report.status === 'Connected';
    };
    await new Promise<void>((resolve) => {
      const look = () => (isConnected() ? resolve() : undefined);
      supervisor.listen(look);
      look();
    });
  };
  return { supervisor, connected, living, seen };
}

function callWithoutAnswer(supervisor: Supervisor): () => Promise<unknown> {
  const cancel = new AbortController();
  const params = Buffer.from('{}');
  const call = { method: 'tools/call', params, progress: null, signal: cancel.signal, notify() {} };
  const answer = supervisor.call(mcpServer, call).catch(({ code }) => code);
  return () => {
    cancel.abort();
    return answer;
  };
}

test.each<[string, (supervisor: Supervisor) => void, number]>([
  ['is restarted', (supervisor) => supervisor.restart(mcpServer), 2],
  ['is changed', (supervisor) => supervisor.apply([version(3)]), 3],
  ['left again', (supervisor) => supervisor.apply([]), 4],
])(
  'an MCP server that left, came back and %s during a call of its former instance exists once',
  async (_name, change, last) => {
    const { supervisor, connected, living, seen } = counting();
    supervisor.apply([version(1)]);
    await connected(1);
    const end = callWithoutAnswer(supervisor);
    supervisor.apply([]);
    expect(supervisor.ids).toEqual([]);
    supervisor.apply([version(2)]);
    await setImmediate();
    change(supervisor);
    await setImmediate();
    supervisor.apply([version(last)]);
    expect([...living]).toEqual(['http://1']);
    expect(await end()).toBe('cancelled');
    await connected(last);
    expect([...living]).toEqual([`http://${last}`]);
    supervisor.apply([]);
    await supervisor.stop(0);
    expect([...living]).toEqual([]);
    expect(seen).toEqual({ most: 1, launched: 2 });
  },
);

test('only one instance lives at a time, and the last command wins', async () => {
  const { supervisor, connected, living, seen } = counting();
  let last = 1;
  let random = 1;
  for (let step = 0; step < 2000; step++) {
    random = (random * 48_271) % 2_147_483_647;
    const what = random % 7;
    if (what === 0) supervisor.apply([]);
    if (what === 1) supervisor.restart(mcpServer);
    if (what === 2) supervisor.apply([version(last)]);
    if (what === 3) supervisor.apply([version(++last)]);
    for (let turns = random % 41; turns > 0 && what > 3; turns--) await setImmediate();
  }
  supervisor.apply([version(++last)]);
  await connected(last);
  expect([...living]).toEqual([`http://${last}`]);
  expect(seen.most).toBe(1);
  expect(seen.launched).toBeGreaterThan(50);
  await supervisor.stop(0);
  expect([...living]).toEqual([]);
});

test('a removed one does not answer, even while it finishes its calls', async () => {
  const { supervisor, connected } = counting();
  supervisor.apply([version(1)]);
  await connected(1);
  const end = callWithoutAnswer(supervisor);
  supervisor.apply([]);
  supervisor.restart(mcpServer);
  expect(supervisor.snapshot(mcpServer)).toBeNull();
  expect(await callWithoutAnswer(supervisor)()).toBe('unavailable');
  expect(await end()).toBe('cancelled');
  await supervisor.stop(0);
});
