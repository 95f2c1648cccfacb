import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { createMcpServerMutation } from '../client/generated/operations.ts';
import type { Agent } from './agent.ts';
import { foreignServers, misbehaving } from './foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { processesAreShown, processesOf } from './running-processes.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** MCP servers that misbehave, beside one that works: it must not notice. */
let platform: Platform;
let key: string;
let agent: Agent;
let skill: string;

const neighbours = {
  silent: misbehaving('silent'),
  exits: [...misbehaving('exits'), '3', 'I give up'],
  crash: misbehaving('crash'),
};

beforeAll(async () => {
  platform = await Platform.start();
  await platform.addServer('everything', foreignServers.everything);
  const backend = await platform.backend();
  const created = await platform.svc('keys', 'create', '--name', 'agent');
  key = created.key;
  // Not by way of svc, which would wait for each.
  for (const [name, [command, ...args]] of Object.entries(neighbours)) {
    const input = { name, launch: { command, args } };
    await backend.send(createMcpServerMutation, { workspace: created.workspace.id, input });
    await platform.addSkill(name, [`${name}/echo`]);
  }
  skill = await platform.addSkill('works', ['everything/echo', 'everything/trigger-long-running-operation']);
  await platform.addRole('All', ['works', ...Object.keys(neighbours)]);
  agent = await platform.connect(key, `?skillIds=${skill}`);
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

async function show(name: string) {
  const { mcpServers } = await platform.svc('server', 'list');
  return mcpServers.find((one: { name: string }) => one.name === name);
}

/** The backend hears of it a moment after the agent does. */
async function expectShown(name: string, state: object): Promise<void> {
  await expect.poll(() => show(name), { timeout: storedMaxMs, interval: 200 }).toMatchObject(state);
}

async function loaded(name: string): Promise<void> {
  await until(async () => (await agent.text('list_skills', { query: name })).includes('Available'));
  await agent.text('load_skill', { skill: name });
}

/** Calls the one that works without a pause, for as long as `work` takes. */
async function meanwhile(work: () => Promise<void>): Promise<void> {
  const other = await platform.connect(key, `?skillIds=${skill}`);
  let done = false;
  let calls = 0;
  const callOn = async () => {
    for (; !done; calls++) {
      const begun = performance.now();
      expect(await other.text('echo', { message: `${calls}` })).toBe(`Echo: ${calls}`);
      expect(performance.now() - begun).toBeLessThan(answerMaxMs);
    }
  };
  const working = work().finally(() => {
    done = true;
  });
  await Promise.all([working, callOn()]);
  expect(calls).toBeGreaterThan(0);
}

/** An echo takes a few milliseconds; ten tests beside each other on a small machine may make seconds of it. */
const answerMaxMs = 5000;
/** Each look is a command of its own. */
const storedMaxMs = 15_000;

describe('beside one that works, which goes on answering', () => {
  test('a silent MCP server is not Connected, and its skill says so', async () => {
    await meanwhile(async () => {
      await expectShown('silent', { status: expect.stringMatching(/Disconnected|Error/), tools: 0 });
      const told = await agent.text('list_skills', { query: 'silent' });
      expect(told).toMatch(/Not available.*"silent"/s);
    });
  });

  test('an MCP server that exits at once is an Error with the reason, retried with growing pauses', async () => {
    await meanwhile(async () => {
      let seen = await show('exits');
      // Between two tries it says when the next one is.
      await until(async () => {
        seen = await show('exits');
        return seen.restarts >= 2 && seen.nextRetryAt !== null;
      });
      const { status, health, reason } = seen;
      expect({ status, health, code: reason.code }).toEqual({ status: 'Error', health: 'red', code: 'exited' });
      expect(reason.message).toMatch(/exit code 3: it failed/);
      expect(Date.parse(seen.nextRetryAt)).toBeGreaterThan(Date.parse(seen.lastStartedAt));
      expect(await agent.text('list_skills', { query: 'exits' })).toMatch(/Not available.*exit code 3: it failed/s);
      // What it prints may hold what it was given: agents don't read it.
      expect(await agent.text('list_skills', {})).not.toContain('I give up');
      expect(await agent.text('load_skill', { skill: 'exits' }).catch(String)).not.toContain('I give up');
    });
  });

  test('a crash in a call fails that call by name, and the MCP server restarts', async () => {
    await meanwhile(async () => {
      await loaded('crash');
      await expect(agent.text('crash_echo', { text: 'crash' })).rejects.toThrow(/"crash".*exit code 7/s);
      await until(
        async () =>
          (await agent.text('call_tool', { name: 'crash_echo', arguments: { text: 'again' } }).catch(() => '')) ===
          'again',
      );
      await expectShown('crash', { status: 'Connected', health: 'yellow' });
    });
  });
});

test.skipIf(!processesAreShown)(
  'a killed MCP server fails its calls by name at once, and restarts within seconds',
  async () => {
    const child = processesOf(platform.installation.dir).find(({ command }) => command.includes('server-everything'));
    const call = (id: number) =>
      send(platform.mcpUrl, {
        key,
        session: agent.session,
        body: rpc('tools/call', { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 2 } }, id),
      });
    const calls = [call(9001), call(9002), call(9003)];
    await agent.text('echo', { message: 'behind them in the queue' });
    const killedAt = performance.now();
    process.kill(child?.pid ?? 0, 'SIGKILL');
    for (const { body } of await Promise.all(calls)) {
      expect(body.error).toMatchObject({
        message: expect.stringContaining('"everything"'),
        data: { code: 'unavailable', hint: expect.any(String) },
      });
    }
    expect(performance.now() - killedAt).toBeLessThan(answerMaxMs);
    await until(async () => (await agent.text('echo', { message: 'back' }).catch(() => '')) === 'Echo: back', 10_000);
    await expectShown('everything', { status: 'Connected', health: 'yellow', restarts: 1 });
  },
);
