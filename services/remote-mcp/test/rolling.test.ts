import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RunningService } from '../../kit/service.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, type RawAnswer, rpc, send } from './raw.ts';
import { ledger, startRealRuntime } from './real-runtime.ts';
import { tool } from './runtime.ts';
import { TestWorkspace } from './workspace.ts';

// Starts and stops real processes one after the other, under load.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const agents = 8;
/** For a few hundred calls on a busy machine. */
const slowMs = 60_000;

let platform: Platform;
let folder: string;
let key: string;
/** The remote-mcps that a front uses: those that report ready. */
let remoteMcps: RunningService[];
let runtimes: RunningService[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-rolling-'));
  platform = await startPlatform();
  runtimes = [await startRealRuntime(platform), await startRealRuntime(platform)];
  const workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.runningOn('lonely', 'ledger', ledger(join(folder, 'ledger'), [tool('write')]));
  await workspace.role('All', [await workspace.skill('all', ['ledger/write'])]);
  key = (await workspace.key('agent')).text;
  remoteMcps = [await platform.startAnother(), await platform.startAnother()];
});
afterAll(async () => {
  for (const one of runtimes) await one.stop();
  await platform.stop();
  await rm(folder, { recursive: true });
});

/** Sends a request to a ready remote-mcp, and to another if that one no longer listens, like any front. */
class Front {
  readonly #notReady = new Set<RunningService>();
  #turn = 0;
  #isOver = false;
  readonly watching = this.#watch();

  async send(request: Parameters<typeof send>[1]): Promise<RawAnswer> {
    for (;;) {
      const ready = remoteMcps.filter((one) => !this.#notReady.has(one));
      const one = ready[this.#turn++ % ready.length];
      if (one === undefined) throw new Error('none is ready');
      try {
        return await send(`${one.url}/mcp`, request);
      } catch (thrown) {
        if (!isUnconnected(thrown)) throw thrown;
        this.#notReady.add(one);
      }
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.watching;
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      for (const one of remoteMcps) {
        const isReady = await fetch(`${one.url}/ready`).then(
          ({ ok }) => ok,
          () => false,
        );
        if (isReady) this.#notReady.delete(one);
        else this.#notReady.add(one);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Whether no byte of the request was sent. */
function isUnconnected(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

test('each process is stopped and started in turn, and no call fails or is carried out twice', async () => {
  const front = new Front();
  const failed: string[] = [];
  const answered: string[] = [];
  let isOver = false;
  const agent = async (name: number) => {
    const session = await openSession(`${remoteMcps[name % 2]?.url}/mcp`, key);
    for (let count = 0; !isOver; count++) {
      const entry = `${name}/${count}`;
      const body = rpc('tools/call', { name: 'write', arguments: { entry, ms: count % 5 === 0 ? 400 : 5 } });
      const answer = await front
        .send({ key, session, body })
        .catch((thrown: unknown) => `${thrown}: ${thrown instanceof Error ? thrown.cause : null}`);
      if (typeof answer !== 'string' && isGood(answer)) answered.push(entry);
      else failed.push(`${entry}: ${typeof answer === 'string' ? answer : answer.text}`);
    }
  };
  const first = await openSession(`${remoteMcps[0]?.url}/mcp`, key);
  const warm = rpc('tools/call', { name: 'write', arguments: { entry: 'warm' } });
  for (const one of remoteMcps) {
    await until(async () => isGood(await send(`${one.url}/mcp`, { key, session: first, body: warm })));
  }
  const load = Promise.all(Array.from({ length: agents }, (_, name) => agent(name)));
  const goOn = async () => {
    const enough = answered.length + 20 * agents;
    await until(() => answered.length > enough || failed.length > 0, slowMs);
  };
  await goOn();
  // Stops each one as soon as the previous one reports ready, as in a rolling restart.
  for (let at = 0; at < 2; at++) {
    await runtimes[at]?.stop();
    runtimes[at] = await startRealRuntime(platform);
  }
  await goOn();
  for (let at = 0; at < 2; at++) {
    await remoteMcps[at]?.stop();
    remoteMcps[at] = await platform.startAnother();
    await goOn();
  }
  isOver = true;
  await load;
  await front.stop();
  expect(failed).toEqual([]);
  const lines = (await readFile(join(folder, 'ledger'), 'utf8')).trimEnd().split('\n');
  const written = lines.map((line) => line.split(' ')[1] ?? '').filter((entry) => entry !== 'warm');
  expect(written.sort()).toEqual(answered.sort());
  expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(4);
});
