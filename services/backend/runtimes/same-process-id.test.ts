import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { type McpServerId, newId, newProcessId, type WorkspaceId } from '../../contracts/ids.ts';
import { payloadMaxBytes, type Subscription } from '../../kit/bus/bus.ts';
import { parseBody } from '../bus/wire.ts';
import { createMcpServer } from '../servers/change-servers.ts';
import { stateOf } from '../servers/status.ts';
import { addWorkspace, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { connectPlatformRuntime, connectRuntime, type TestRuntime, toolNamed } from '../test/test-runtime.ts';
import { createAuthorizer } from './authorize.ts';
import { Processes } from './processes.ts';
import { registerRuntime } from './register-runtime.ts';
import { answerReports } from './report.ts';
import { Turns } from './turns.ts';
import { watchProcesses } from './watch-processes.ts';

/** A runtime of another workspace with the victim's process id, on a bus that allows equal ids. */
let backend: TestBackend;
let started: Subscription;
let victim: TestRuntime;
let hostile: TestRuntime;
let workspace: WorkspaceId;
let mcpServer: McpServerId;
let own: McpServerId;

const patiently = { timeout: 10_000 };

beforeEach(async () => {
  backend = await openTestBackend();
  started = start();
  victim = await connectPlatformRuntime(backend, 'cloud');
  const { id, owner } = await addWorkspace(backend, 'acme');
  workspace = id;
  mcpServer = (await createMcpServer(backend, owner, id, { name: 'files', launch: { command: 'run' } })).id;
  const other = await addWorkspace(backend, 'evil');
  const { secret } = await registerRuntime(backend, other.owner, { workspace: other.id, name: 'office' });
  const launch = { command: 'run' };
  own = (await createMcpServer(backend, other.owner, other.id, { name: 'own', launch, runtime: 'office' })).id;
  victim.beat(60_000, 'bwrap');
  await victim.report([{ mcpServer, tools: [toolNamed('read')] }], true);
  hostile = await connectRuntime(backend, { kind: 'runtime', key: secret });
  expect(hostile.process).toBe(victim.process);
});
afterEach(async () => {
  await started.stop();
  await backend.close();
});

const sharedProcess = newProcessId();

/** All listeners for runtimes; the bus gives each runtime the same process id. */
function start(): Subscription {
  const turns = new Turns();
  const authorizer = createAuthorizer(backend);
  const parts = [
    watchProcesses(backend, turns),
    answerReports(backend, turns),
    backend.bus.authorize((credentials) => authorizer(credentials, sharedProcess)),
  ];
  return {
    async stop() {
      await Promise.all(parts.map((part) => part.stop()));
      await turns.idle();
    },
  };
}

async function state() {
  const server = await backend.graph.find('mcpServer', mcpServer, workspace);
  const { nodes } = await backend.graph.select({ type: 'status', anchor: workspace, limit: 10 });
  if (server === null) throw new Error('no MCP server');
  return stateOf(server, nodes, []);
}

const rows: readonly (readonly [string, () => unknown])[] = [
  ['reports that it runs nothing', () => hostile.report([], true)],
  ['reports only its own MCP server', () => hostile.report([{ mcpServer: own }], true)],
  ['reports an error of the MCP server', () => hostile.report([{ mcpServer, status: 'Error', health: 'red' }])],
  [
    'falls silent',
    async () => {
      hostile.beat(50);
      await expect.poll(() => backend.logged.join(''), patiently).toContain('fell silent');
    },
  ],
  [
    'leaves',
    async () => {
      await hostile.report([{ mcpServer: own }]);
      await hostile.bus.close();
      await expect.poll(() => backend.logged.join(''), patiently).toContain('disconnected');
    },
  ],
  ['says another version and sandbox', () => hostile.beat(60_000, 'none')],
];

describe('another runtime with the same process id', () => {
  test.each(rows)('%s: nothing of the victim changes', async (_name, attack) => {
    const before = await state();
    expect(before.status).toBe('Connected');
    await attack();
    // Stopping waits for running work.
    await started.stop();
    expect(await state()).toEqual(before);
    expect(backend.processes.isAvailable(victim.runtime)).toBe(true);
    expect(backend.processes.of(victim.runtime)).toMatchObject([{ process: victim.process, sandbox: 'bwrap' }]);
    started = start();
  });
});

test('two runtimes with one process id each have a status of the MCP server that both run', async () => {
  const twin = await connectPlatformRuntime(backend, 'cloud-2');
  await twin.report([{ mcpServer, status: 'Error', health: 'red' }]);
  expect(await state()).toMatchObject({
    status: 'Connected',
    processes: [{ runtime: victim.runtime, process: victim.process }],
  });
  await twin.report([], true);
  expect(await state()).toMatchObject({ status: 'Connected', health: 'green' });
});

test('a list of tools that another runtime with the same process id claims is set aside', async () => {
  const twin = await connectPlatformRuntime(backend, 'cloud-2');
  await twin.report([{ mcpServer, tools: [toolNamed('evil')] }]);
  const where = [{ field: 'mcpServer' as const, equals: mcpServer }];
  const { nodes } = await backend.graph.select({ type: 'tool', anchor: workspace, where, limit: 10 });
  expect(nodes.map(({ originalName }) => originalName)).toEqual(['read']);
});

test("the backend requests a full report from a new process, even if another runtime's process has the same id", async () => {
  const asked = new Promise((resolve) =>
    hostile.bus.subscribe(subjects.command(hostile.runtime, hostile.process), ({ payload }) =>
      resolve(parseBody(command, payload, payloadMaxBytes)),
    ),
  );
  hostile.beat(60_000);
  expect(await asked).toEqual({ kind: 'assignments' });
});

test('live processes of two runtimes with one id are two', () => {
  const processes = new Processes(() => 0);
  const process = newProcessId();
  const [one, other] = [newId('runtime'), newId('runtime')];
  processes.seen(one, process, { version: '1' });
  expect(processes.seen(other, process, { version: '2' })).toBe(true);
  processes.gone({ runtime: other, process });
  expect([processes.of(one).length, processes.of(other).length]).toEqual([1, 0]);
});
