import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findNatsServer } from '../../kit/bus/nats/test/server.ts';
import { type NatsHub, startNatsHub } from './nats-hub.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, rpc, send } from './raw.ts';
import { ledger } from './real-runtime.ts';
import { tool } from './runtime.ts';
import { TestWorkspace } from './workspace.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Starts a process and its MCP server on a busy machine. */
const startMaxMs = 30_000;
const tools = [tool('write'), tool('read', { annotations: { readOnlyHint: true } })];
const runtimeProgram = join(import.meta.dirname, '../../runtime/main.ts');

let hub: NatsHub;
let platform: Platform;
let folder: string;
let key: string;
let session: string;
const processes: ChildProcess[] = [];

describe.skipIf(findNatsServer() === null)('on a real bus, of two runtime processes', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-killed-'));
    hub = await startNatsHub();
    platform = await startPlatform({ hub });
    start();
    const workspace = await TestWorkspace.create(platform, 'acme');
    const launch = ledger(join(folder, 'ledger'), tools);
    // Other connections know the runtime after its first connection.
    await until(async () => {
      const made = workspace.runningOn('lonely', 'ledger', launch);
      return await made.then(
        () => true,
        () => false,
      );
    }, startMaxMs);
    await workspace.role('All', [await workspace.skill('all', ['ledger/write', 'ledger/read'])]);
    key = (await workspace.key('agent')).text;
    session = await openSession(platform.mcpUrl, key);
    await until(async () => isGood(await call('read', 'warm')), startMaxMs);
  });
  afterAll(async () => {
    await Promise.all(processes.map((child) => end(child, 'SIGTERM')));
    await platform.stop();
    await rm(folder, { recursive: true });
  });

  test('one is killed: the other repeats repeatable calls, and other calls get "outcome unknown"', async () => {
    const [instance] = await instances(1);
    const killed = start();
    await instances(2);
    const names = ['write', 'read'].flatMap((name) => Array.from({ length: 8 }, (_, at) => `${name}-${at}`));
    const answers = names.map((entry) => ({ entry, answer: call(entry.split('-')[0] ?? '', entry, 1500) }));
    await until(async () => {
      const written = await entries();
      return names.every((entry) => written.some((line) => line.endsWith(` ${entry}`)));
    });
    const hadIt = new Map((await entries()).map((line) => [line.split(' ')[1], line.split(' ')[0]]));
    killed.kill('SIGKILL');
    expect(isGood(await call('read', 'next'))).toBe(true);
    for (const { entry, answer } of answers) {
      const { body } = await answer;
      const isLost = hadIt.get(entry) !== instance && entry.startsWith('write');
      expect([entry, body.result?.content[0].text ?? body.error.message]).toEqual([
        entry,
        isLost ? expect.stringContaining('ended before "write" was answered') : `${instance} ${entry}`,
      ]);
    }
    expect(names.filter((entry) => hadIt.get(entry) !== instance)).toHaveLength(8);
  });

  test('one gets SIGTERM: it finishes its calls and ends', async () => {
    const left = start();
    await instances(2);
    const answers = Array.from({ length: 8 }, (_, at) => call('write', `stop-${at}`, 1000));
    await until(async () => (await entries()).filter((line) => line.includes(' stop-')).length === 8);
    const ended = end(left, 'SIGTERM');
    for (let count = 0; count < 20; count++) expect(isGood(await call('write', 'meanwhile'))).toBe(true);
    for (const answer of answers) expect(isGood(await answer)).toBe(true);
    expect(await ended).toBe(0);
  });
});

function start(): ChildProcess {
  const child = spawn(process.execPath, [runtimeProgram], {
    stdio: 'ignore',
    env: {
      ...{ PATH: process.env.PATH, BUS_SERVERS: hub.url, SVC_WORKING_DIR: join(folder, `runtime-${processes.length}`) },
      ...{ SYSTEM_KEY: platform.runtimeKey, RUNTIME_NAME: 'lonely' },
    },
  });
  processes.push(child);
  return child;
}

/** Its exit code; null if a signal killed it. */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
  return child.exitCode;
}

const call = (name: string, entry: string, ms = 0) =>
  send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name, arguments: { entry, ms } }) });
const entries = async () => (await readFile(join(folder, 'ledger'), 'utf8')).trimEnd().split('\n');

/** The instances that answer, as soon as there are `count` of them: each process of the runtime has its own. */
async function instances(count: number): Promise<readonly string[]> {
  const seen = new Set<string>();
  await until(async () => {
    const { body } = await call('write', 'who');
    seen.add(body.result.content[0].text.split(' ')[0]);
    return seen.size === count;
  }, startMaxMs);
  return [...seen];
}
