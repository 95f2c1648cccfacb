import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, rpc, send } from './raw.ts';
import { ledger, type RealRuntime, startRealRuntime } from './real-runtime.ts';
import { tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const tools = [tool('write'), tool('read', { annotations: { readOnlyHint: true } })];

let platform: Platform;
let folder: string;
let key: string;
let session: string;
let first: RealRuntime;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-two-'));
  platform = await startPlatform();
  first = await startRealRuntime(platform);
  const workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.runningOn('lonely', 'ledger', ledger(join(folder, 'ledger'), tools));
  await workspace.role('All', [await workspace.skill('all', ['ledger/write', 'ledger/read'])]);
  key = (await workspace.key('agent')).text;
  session = await openSession(platform.mcpUrl, key);
  await until(async () => isGood(await call('write', 'warm')));
  await send(platform.mcpUrl, {
    ...{ key, session },
    body: rpc('tools/call', { name: 'load_skill', arguments: { skill: 'all' } }),
  });
});
afterAll(async () => {
  await first.stop();
  await platform.stop();
  await rm(folder, { recursive: true });
});

const call = (name: string, entry: string, ms = 0) =>
  send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name, arguments: { entry, ms } }) });
/** The instance that answered: each process of a runtime has its own. */
const whoAnswered = async (answer: ReturnType<typeof call>) => (await answer).body.result.content[0].text.split(' ')[0];
const entries = async () => (await readFile(join(folder, 'ledger'), 'utf8')).trimEnd().split('\n');
const times = async (entry: string) => (await entries()).filter((line) => line.endsWith(` ${entry}`)).length;

/** Starts another process of the same runtime, and resolves when calls reach it. */
async function another(): Promise<{ runtime: RealRuntime; instances: readonly string[] }> {
  const runtime = await startRealRuntime(platform);
  const seen = new Set<string>();
  await until(async () => seen.add(await whoAnswered(call('write', 'join'))).size === 2);
  return { runtime, instances: [...seen] };
}

test('agents get no notification when a runtime process joins or leaves', async () => {
  const stream = await openStream(platform.mcpUrl, { key, session });
  const listed = async () => (await send(platform.mcpUrl, { key, session, body: rpc('tools/list') })).text;
  const before = (await listed()).replace(/"id":"[^"]*"/, '');
  const told = stream.messages.length;
  const { runtime } = await another();
  await runtime.stop();
  const last = await whoAnswered(call('write', 'left'));
  for (let count = 0; count < 10; count++) expect(await whoAnswered(call('write', 'left'))).toBe(last);
  expect((await listed()).replace(/"id":"[^"]*"/, '')).toBe(before);
  expect(stream.messages).toHaveLength(told);
  stream.close();
});

test('calls go to the process with the fewest calls in progress', async () => {
  const { runtime, instances } = await another();
  const long = Array.from({ length: 6 }, (_, at) => whoAnswered(call('write', `long-${at}`, 3000)));
  await until(async () => (await entries()).filter((line) => line.includes(' long-')).length === 6);
  const by = (await entries()).filter((line) => line.includes(' long-')).map((line) => line.split(' ')[0]);
  for (const instance of instances) expect(by.filter((one) => one === instance)).toHaveLength(3);
  await Promise.all(long);
  await runtime.stop();
});

test('a process that dies affects its own calls only, and the other repeats repeatable calls', async () => {
  const { runtime, instances } = await another();
  const names = ['write', 'read'].flatMap((name) => Array.from({ length: 10 }, (_, at) => `${name}-${at}`));
  const answers = names.map((entry) => ({ entry, answer: call(entry.split('-')[0] ?? '', entry, 1000) }));
  await until(async () => {
    const all = await entries();
    return names.every((entry) => all.some((line) => line.endsWith(` ${entry}`)));
  });
  const diedAt = performance.now();
  runtime.die();
  const next = await call('write', 'next');
  expect([isGood(next), performance.now() - diedAt < 5000]).toEqual([true, true]);
  const dead = instances.find((instance) => instance !== next.body.result.content[0].text.split(' ')[0]);
  const lines = await entries();
  const hadIt = (entry: string) => lines.includes(`${dead} ${entry}`);
  for (const { entry, answer } of answers) {
    const { body } = await answer;
    const isLost = hadIt(entry) && entry.startsWith('write');
    expect([entry, body.result?.content[0].text.endsWith(entry) ?? body.error.message]).toEqual([
      entry,
      isLost ? expect.stringContaining('"ledger" ended before "write" was answered') : true,
    ]);
    expect(await times(entry)).toBe(hadIt(entry) && entry.startsWith('read') ? 2 : 1);
  }
  expect(names.filter(hadIt)).toHaveLength(10);
  await runtime.stop();
});
