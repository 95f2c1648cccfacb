import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { payloadMaxBytes, type Subscription } from '../../kit/bus/bus.ts';
import { parseBody } from '../bus/wire.ts';
import { everyPage } from '../graph/every-page.ts';
import type { Node } from '../graph/graph.ts';
import { createMcpServer } from '../servers/change-servers.ts';
import { addWorkspace, openAnotherBackend, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { connectPlatformRuntime, type TestRuntime, toolNamed } from '../test/test-runtime.ts';
import { startRuntimes } from './start-runtimes.ts';

/** Two processes of one runtime, and an MCP server that both of them run. */
let backend: TestBackend;
let started: Subscription;
let first: ObservedRuntime;
let second: ObservedRuntime;
let server: Node<'mcpServer'>;

beforeAll(async () => {
  backend = await openTestBackend();
  started = await startRuntimes(backend);
});
afterAll(async () => {
  await started.stop();
  await backend.close();
});

let count = 0;
beforeEach(async () => {
  const { id, owner } = await addWorkspace(backend, `workspace-${count++}`);
  server = await createMcpServer(backend, owner, id, { name: 'files', launch: { command: 'run' } });
  first = await connect();
  second = await connect();
});
afterEach(() => Promise.all([first.bus.close(), second.bus.close()]));

type ObservedRuntime = TestRuntime & { readonly wasAsked: () => Promise<void> };

async function connect(): Promise<ObservedRuntime> {
  const runtime = await connectPlatformRuntime(backend, 'cloud');
  const waiting: (() => void)[] = [];
  let asked = 0;
  runtime.bus.subscribe(subjects.command(runtime.runtime, runtime.process), ({ payload }) => {
    expect(parseBody(command, payload, payloadMaxBytes)).toEqual({ kind: 'assignments' });
    asked++;
    for (const wake of waiting.splice(0)) wake();
  });
  // The first heartbeat causes a request for a full report.
  runtime.beat(60_000);
  const wasAsked = async () => {
    while (asked === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    asked = 0;
  };
  await wasAsked();
  return { ...runtime, wasAsked };
}

const report = (runtime: TestRuntime, names: readonly string[], more: object = {}) =>
  runtime.report([{ mcpServer: server.id, tools: names.map((name) => toolNamed(name)), ...more }]);

async function listed(): Promise<readonly string[]> {
  const where = [{ field: 'mcpServer' as const, equals: server.id }];
  const names: string[] = [];
  for await (const tools of everyPage(backend.graph, { type: 'tool', anchor: server.workspace, where, limit: 100 })) {
    names.push(...tools.flatMap((tool) => (tool.listed ? [tool.originalName] : [])));
  }
  return names.sort();
}

async function reasonOf({ runtime, process }: TestRuntime): Promise<string | null> {
  const status = await backend.graph.findBy('status', { mcpServer: server.id, runtime, process }, server.workspace);
  return status?.reason === null || status === null ? null : JSON.parse(status.reason).code;
}

test('the list of the process that was Connected first counts, and the other list is reported as set aside', async () => {
  await report(first, ['a', 'b']);
  for (let times = 0; times < 3; times++) await report(second, ['a', 'c']);
  expect([await listed(), await reasonOf(first), await reasonOf(second)]).toEqual([
    ...[['a', 'b'], null, 'tools_set_aside'],
  ]);
  await report(second, ['a', 'b', 'c']);
  expect([await listed(), await reasonOf(second)]).toEqual([['a', 'b'], 'tools_set_aside']);
  await report(second, ['a']);
  expect([await listed(), await reasonOf(second)]).toEqual([['a', 'b'], 'tools_set_aside']);
  await report(second, ['b', 'a']);
  expect([await listed(), await reasonOf(second)]).toEqual([['a', 'b'], null]);
});

test('a process that is not Connected sets no list aside', async () => {
  await report(first, ['a'], { status: 'Error', health: 'red' });
  await report(second, ['b']);
  expect([await listed(), await reasonOf(second)]).toEqual([['b'], null]);
});

test('a list that is set aside stays so while its process reports other reasons', async () => {
  await report(first, ['a']);
  await report(second, ['b']);
  const reason = { code: 'slow', message: 'It is slow.', repair: 'Wait.' };
  await second.report([{ mcpServer: server.id, reason }]);
  expect(await reasonOf(second)).toBe('slow');
  await report(first, ['a', 'c']);
  expect(await listed()).toEqual(['a', 'c']);
  await second.report([{ mcpServer: server.id }]);
  expect(await reasonOf(second)).toBe('tools_set_aside');
});

test('the other lists are requested again when the list that counts has changed, and only then', async () => {
  await report(first, ['a']);
  await report(second, ['b']);
  await report(first, ['b']);
  await second.wasAsked();
  await report(second, ['b']);
  expect([await listed(), await reasonOf(second)]).toEqual([['b'], null]);
  // An unchanged list causes no request: the answer to this report is the next message.
  await report(first, ['b']);
  await report(second, ['c']);
  await first.bus.close();
  await second.wasAsked();
});

test('a process that was set aside is asked again when the other has ended, and then counts', async () => {
  await report(first, ['a']);
  await report(second, ['b']);
  await first.bus.close();
  await second.wasAsked();
  await report(second, ['b']);
  expect([await listed(), await reasonOf(second)]).toEqual([['b'], null]);
});

const names = (prefix: string) => Array.from({ length: 60 }, (_, at) => `${prefix}-${at}`);

async function expectOneOf(both: readonly TestRuntime[]): Promise<void> {
  const all = await listed();
  expect(new Set(all.map((name) => name.split('-')[0])).size).toBe(1);
  expect(all).toHaveLength(60);
  const reasons = await Promise.all(both.map(reasonOf));
  expect(reasons.filter((code) => code === 'tools_set_aside')).toHaveLength(1);
}

test('of two concurrent reports one counts as a whole', async () => {
  await Promise.all([report(first, names('first')), report(second, names('second'))]);
  await expectOneOf([first, second]);
});

test('the same with two backends that take their reports at once', async () => {
  const another = await openAnotherBackend(backend);
  const startedToo = await startRuntimes(another);
  for (let turn = 0; turn < 5; turn++) {
    const [a, b] = [names(`first${turn}`), names(`second${turn}`)];
    await Promise.all([report(first, a), report(second, b)]);
    await expectOneOf([first, second]);
    for (const runtime of [first, second]) await runtime.report([], true);
  }
  await startedToo.stop();
  await another.close();
});

test('a process compared with an incomplete list is asked again, and agrees', async () => {
  const another = await openAnotherBackend(backend);
  const startedToo = await startRuntimes(another);
  const long = Array.from({ length: 400 }, (_, at) => `tool-${at}`);
  await Promise.all([report(first, long), report(second, long)]);
  for (const runtime of [first, second]) {
    if ((await reasonOf(runtime)) === null) continue;
    await runtime.wasAsked();
    await report(runtime, long);
  }
  expect([await reasonOf(first), await reasonOf(second)]).toEqual([null, null]);
  await startedToo.stop();
  await another.close();
});
