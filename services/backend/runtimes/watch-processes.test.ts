import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { command, event } from '../../contracts/bus/messages.ts';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import { newId, newProcessId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { type Bus, payloadMaxBytes, type Subscription } from '../../kit/bus/bus.ts';
import { parseBody } from '../bus/wire.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { createMcpServer } from '../servers/change-servers.ts';
import { addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import { connectPlatformRuntime, type TestRuntime } from '../test/test-runtime.ts';
import { Processes } from './processes.ts';
import { startRuntimes } from './start-runtimes.ts';

/** The machine may be busy with other work. */
const patiently = { timeout: 10_000 };

let backend: TestBackend;
let started: Subscription;
let cloud: TestRuntime;
let remoteMcp: Bus;
let workspace: WorkspaceId;

beforeEach(async () => {
  backend = await openTestBackend();
  started = await startRuntimes(backend);
  cloud = await connectPlatformRuntime(backend, 'cloud');
  const key = newKey('system');
  await registerSystemKey(backend, operator, { component: 'remote-mcp', key: key.reveal() });
  remoteMcp = await backend.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
  const { id, owner } = await addWorkspace(backend, 'acme');
  workspace = id;
  const { id: mcpServer } = await createMcpServer(backend, owner, id, { name: 'files', launch: { command: 'run' } });
  await cloud.report([{ mcpServer }]);
});
afterEach(async () => {
  await started.stop();
  await backend.close();
});

const statuses = () => backend.graph.count({ type: 'status', anchor: 'everywhere', limit: 1 });

/** The next status event of the workspace. */
function nextStatus(): Promise<number> {
  return new Promise((resolve) => {
    const listening = remoteMcp.subscribe(subjects.event(workspace, 'status'), ({ payload }) => {
      resolve(parseBody(event, payload, payloadMaxBytes).statusVersion);
      void listening.stop();
    });
  });
}

describe('a process', () => {
  test('whose connection ends has its statuses removed at once, and its end announced', async () => {
    const { statusRevision } = (await backend.graph.find('workspace', workspace, null)) ?? {};
    const gone = new Promise((resolve) => remoteMcp.subscribe(patterns.gone, ({ subject }) => resolve(subject)));
    const status = nextStatus();
    await cloud.bus.close();
    expect(await gone).toBe(subjects.gone(cloud.runtime, cloud.process));
    expect(await status).toBe((statusRevision ?? 0) + 1);
    expect(await statuses()).toBe(0);
    expect(backend.processes.isAvailable(cloud.runtime)).toBe(false);
  });

  test('of a runtime whose connection could not be ended at the revocation is ended once it reports again', async () => {
    const lost = new Promise((resolve) => cloud.bus.onConnection(resolve));
    const revoked = { revokedAt: Date.now() };
    await backend.graph.write((transaction) => transaction.update('runtime', cloud.runtime, revoked, { anchor: null }));
    cloud.beat(60_000);
    expect(await lost).toBe('disconnected');
  });

  test('that falls silent has its statuses removed after three heartbeats', async () => {
    const status = nextStatus();
    cloud.beat(50);
    await status;
    expect(await statuses()).toBe(0);
    expect(backend.processes.isAvailable(cloud.runtime)).toBe(false);
  });

  test('that is not overdue stays when another one ends', async () => {
    const second = await connectPlatformRuntime(backend, 'cloud-2');
    const { nodes } = await backend.graph.select({ type: 'mcpServer', anchor: workspace, limit: 1 });
    await second.report(nodes.map(({ id }) => ({ mcpServer: id })));
    const status = nextStatus();
    cloud.beat(5000);
    second.beat(50);
    await status;
    expect(backend.processes.isAvailable(second.runtime)).toBe(false);
    expect(backend.processes.isAvailable(cloud.runtime)).toBe(true);
    expect(await statuses()).toBe(1);
  });

  describe('that this backend does not know', () => {
    beforeEach(() => backend.processes.gone(cloud));

    const nextCommand = () =>
      new Promise((resolve) =>
        cloud.bus.subscribe(subjects.command(cloud.runtime, cloud.process), ({ payload }) =>
          resolve(parseBody(command, payload, payloadMaxBytes)),
        ),
      );

    test.each<[string, () => unknown]>([
      ['it beats', () => cloud.beat(5000)],
      ['it reports on a part', () => cloud.report([])],
      ['it has assignments already', () => cloud.shakeHands('from before')],
    ])('is asked for a full report when %s', async (_name, speak) => {
      const asked = nextCommand();
      await speak();
      expect(await asked).toEqual({ kind: 'assignments' });
    });

    test.each<[string, () => Promise<unknown>]>([
      ['it says everything', () => cloud.report([], true)],
      ['it begins', () => cloud.shakeHands()],
    ])('is not asked when %s', async (_name, speak) => {
      const asked = nextCommand();
      await speak();
      cloud.beat(5000);
      backend.commandRuntimes([cloud.runtime], { kind: 'restart', mcpServer: newId('mcpServer') });
      expect(await asked).toMatchObject({ kind: 'restart' });
    });
  });
});

test.each([
  ['a time that never comes', 2 ** 40, 180_000],
  ['no time at all', 1, 150],
])(
  'a heartbeat that promises the next one in %s is held to the range of the interval',
  async (_name, given, overdueMs) => {
    let now = 0;
    const processes = new Processes(() => now);
    await started.stop();
    started = await startRuntimes({ ...backend, processes });
    cloud.beat(given);
    await expect.poll(() => processes.isLive(cloud), patiently).toBe(true);
    now = overdueMs - 1;
    expect(processes.overdue()).toEqual([]);
    now = overdueMs;
    expect(processes.overdue()).toMatchObject([{ process: cloud.process }]);
  },
);

test('the description that a program sends of itself is cleaned before it is shown', async () => {
  const body = { at: 1, inFlight: 0, intervalMs: 5000, version: '1\u001b[31m\n2\0', sandbox: 'bw\ud800rap' };
  cloud.bus.publish(subjects.heartbeat(cloud.runtime, cloud.process), new TextEncoder().encode(JSON.stringify(body)));
  const live = () => backend.processes.find(cloud);
  await expect.poll(live, patiently).toMatchObject({ version: '1 [31m 2 ', sandbox: 'bw\ufffdrap' });
});

test.each([
  ['a negative count of calls', { inFlight: -1 }],
  ['an interval below one', { intervalMs: 0 }],
  ['a version of 300 characters', { version: 'x'.repeat(300) }],
])('a heartbeat with %s is not a sign of life', async (_name, wrong) => {
  const other = await connectPlatformRuntime(backend, 'cloud-2');
  const body = { at: 1, inFlight: 0, intervalMs: 5000, version: '1', ...wrong };
  other.bus.publish(subjects.heartbeat(other.runtime, other.process), new TextEncoder().encode(JSON.stringify(body)));
  await expect.poll(() => backend.logged.join(''), patiently).toContain('malformed');
  expect(backend.processes.isAvailable(other.runtime)).toBe(false);
});

test('the time of a heartbeat is written, but not for each of them', async () => {
  const lastHeartbeat = async () => (await backend.graph.find('runtime', cloud.runtime, null))?.lastHeartbeatAt;
  const before = Date.now();
  cloud.beat(5000);
  const written = await expect.poll(lastHeartbeat, patiently).toBeGreaterThanOrEqual(before).then(lastHeartbeat);
  cloud.beat(5000);
  // Stopping waits for running work.
  await started.stop();
  expect(await lastHeartbeat()).toBe(written);
});

test('statuses from before a bus inside the process ended are removed at boot', async () => {
  await started.stop();
  backend.processes.gone(cloud);
  expect(await statuses()).toBe(1);
  started = await startRuntimes(backend);
  expect(await statuses()).toBe(0);
});

test('a malformed heartbeat is not a sign of life', async () => {
  const other = await connectPlatformRuntime(backend, 'cloud-2');
  other.bus.publish(subjects.heartbeat(other.runtime, other.process), new TextEncoder().encode('{}'));
  cloud.beat(5000);
  await expect.poll(() => backend.logged.join(''), patiently).toContain('malformed');
  expect(backend.processes.isAvailable(other.runtime)).toBe(false);
});
