import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
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
/** A stop waits two seconds for a silent bus; the rest is for a busy machine. */
const stopMaxMs = { gone: 3000, silent: 4000 };

let hub: NatsHub;
let platform: Platform;
let folder: string;
let children: ChildProcess[];

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-lost-bus-'));
    hub = await startNatsHub();
    platform = await startPlatform({ hub });
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    hub.server.thaw();
    await platform.stop();
    await rm(folder, { recursive: true });
  });

  test.each(['gone', 'silent'] as const)('that is %s, each service ends soon, calls or not', async (fault) => {
    const backend = await start('backend', { PORT: '0', ...platform.variables.backend, ...hub.seeds });
    const runtime = await start('runtime', ofRuntime());
    const [busy, idle] = await Promise.all([startRemoteMcp(), startRemoteMcp()]);
    const call = await callThrough(busy.url);
    await until(async () => isGood(await call(0)), startMaxMs);
    await openSession(`${idle.url}/mcp`, call.key);
    const hanging = call(60_000);
    await until(async () => (await call(0)).body.result.content[0].text.length > 0);
    await lose(fault);
    const stopped = await Promise.all([backend, runtime, busy, idle].map(({ child }) => msToStop(child)));
    expect(stopped.filter((ms) => ms > stopMaxMs[fault])).toEqual([]);
    expect((await hanging).text).toMatch(/may have been carried out|is being stopped|unavailable/);
  });

  test.each(['gone', 'silent'] as const)(
    'that is %s before they connect, both of its clients end soon',
    async (fault) => {
      await lose(fault);
      const started = await Promise.all([startRemoteMcp(), start('runtime', ofRuntime())]);
      const stopped = await Promise.all(started.map(({ child }) => msToStop(child)));
      expect(stopped.filter((ms) => ms > stopMaxMs[fault])).toEqual([]);
    },
  );
});

async function lose(fault: 'gone' | 'silent'): Promise<void> {
  if (fault === 'gone') await hub.server.stop('SIGKILL');
  else await hub.server.freeze();
}

const startRemoteMcp = () => start('remote-mcp', platform.variables.remoteMcp);

function ofRuntime() {
  const names = { SYSTEM_KEY: platform.runtimeKey, RUNTIME_NAME: 'lonely', REMOTE_PORT: '0' };
  return { ...names, SVC_WORKING_DIR: join(folder, 'runtime'), PATH: process.env.PATH ?? '' };
}

/** Resolves when the service listens. Its dependencies may be missing. */
async function start(service: string, env: Readonly<Record<string, string>>) {
  const program = join(import.meta.dirname, '../..', service, 'main.ts');
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, BUS_SERVERS: hub.url },
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line);
    if (typeof url !== 'string') continue;
    child.stdout.resume();
    // After its first answer, the service handles signals.
    await fetch(`${url}/health`);
    return { child, url };
  }
  throw new Error(`${service} ended before it listened`);
}

/** A session of an agent at this remote-mcp, with slow calls at the runtime's process. */
async function callThrough(url: string) {
  const workspace = await TestWorkspace.create(platform, 'acme');
  await until(async () => {
    const made = workspace.runningOn('lonely', 'ledger', ledger(join(folder, 'ledger'), [tool('write')]));
    return await made.then(
      () => true,
      () => false,
    );
  }, startMaxMs);
  await workspace.role('All', [await workspace.skill('all', ['ledger/write'])]);
  const { text: key } = await workspace.key('agent');
  await until(async () => (await fetch(`${url}/ready`)).status === 200, startMaxMs);
  const session = await openSession(`${url}/mcp`, key);
  const call = (ms: number) =>
    send(`${url}/mcp`, { key, session, body: rpc('tools/call', { name: 'write', arguments: { entry: 'x', ms } }) });
  return Object.assign(call, { key });
}

async function msToStop(child: ChildProcess): Promise<number> {
  const exited = once(child, 'exit');
  const asked = performance.now();
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  return performance.now() - asked;
}
