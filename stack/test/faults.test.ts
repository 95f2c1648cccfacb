import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { everyPage } from '../client/every-page.ts';
import { createRoleMutation } from '../client/generated/operations.ts';
import { readPlan } from '../engines/plan-of.ts';
import { firstOf } from '../parts/parts.ts';
import type { Agent } from './agent.ts';
import { foreignServers, misbehaving } from './foreign-servers.ts';
import { Platform, startTimeoutMs } from './platform.ts';
import { processesAreShown, processesOf } from './running-processes.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: startTimeoutMs });

/** A kill at the worst moments: acknowledged changes exist after the next `svc up`, and sessions continue. */
describe('a kill -9 of the platform', () => {
  let platform: Platform;
  let workspace: string;
  let key: string;
  let agent: Agent;

  const slow = { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 600 } };

  beforeAll(async () => {
    platform = await Platform.start();
    // Of two tools with the same name, the first gets the bare name.
    await platform.addServer('everything', foreignServers.everything);
    await platform.addServer('stubborn', misbehaving('stubborn'));
    const tools = ['everything/trigger-long-running-operation', 'everything/get-sum', 'stubborn/echo'];
    const skill = await platform.addSkill('all', tools);
    for (const name of ['announced', 'waiting']) await platform.addSkill(name, ['everything/echo']);
    await platform.addRole('All', ['all']);
    key = await platform.addKey('agent');
    workspace = await platform.workspace();
    agent = await platform.connect(key, `?skillIds=${skill}`);
  }, startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async function ask(query: string): Promise<any> {
    return (await platform.backend()).send({ text: query }, {});
  }

  const callSlowly = () => send(platform.mcpUrl, { key, session: agent.session, body: rpc('tools/call', slow) });

  test('during calls: they fail, the next start ends leftovers, and the session continues', async () => {
    const stubborn = Number(await agent.text('stubborn_echo'));
    const calls = Array.from({ length: 8 }, () => callSlowly().catch((error: Error) => error));
    await new Promise<void>((begun) => {
      agent.client.callTool(slow, { onprogress: () => begun(), timeout: 30_000 }).catch(() => undefined);
    });
    const before = processesOf(platform.installation.dir).map(({ pid }) => pid);
    await platform.kill();
    for (const outcome of await Promise.all(calls)) expect(outcome).toBeInstanceOf(Error);
    // The process ignores signals, and the end of its input.
    expect(() => process.kill(stubborn, 0)).not.toThrow();
    // A client that calls until the address answers again must not reach a partly started platform.
    const params = { name: 'get-sum', arguments: { a: 1, b: 2 } };
    const request = { key, session: agent.session, body: rpc('tools/call', params) };
    const firstAnswer = async () => {
      for (;;) {
        const answer = await send(platform.mcpUrl, request).catch(() => null);
        if (answer !== null) return answer;
        await pause(5);
      }
    };
    const [{ status, body }] = await Promise.all([firstAnswer(), platform.svc('up')]);
    expect([status, JSON.stringify(body.result?.content)]).toEqual([200, expect.stringContaining('is 3')]);
    if (processesAreShown) {
      const present = () => processesOf(platform.installation.dir).map(({ pid }) => pid);
      await until(() => present().length === 3);
      expect(present().filter((pid) => before.includes(pid))).toEqual([]);
    }
    await until(async () => (await agent.text('list_skills')).includes('Available, 3 tools'));
    expect(Number(await agent.text('stubborn_echo'))).not.toBe(stubborn);
    expect(agent.sessionsBegun()).toBe(1);
  });

  test('during writes: every acknowledged change is there with its record, and none by halves', async () => {
    const revision = async () => (await ask(`{ workspace(id: "${workspace}") { revision } }`)).workspace.revision;
    const revisionBefore = await revision();
    const roles: string[] = [];
    const sessions: string[] = [];
    const backend = await platform.backend();
    const untilKilled = async (write: (i: number) => Promise<void>) => {
      try {
        for (let i = 0; ; i++) await write(i);
      } catch {
        // The kill causes this error: nothing else refuses these writes.
      }
    };
    const writers = [1, 2, 3].map((writer) =>
      untilKilled(async (i) => {
        const name = `written-${writer}-${i}`;
        await backend.send(createRoleMutation, { workspace, input: { name } });
        roles.push(name);
      }),
    );
    const openers = [1, 2].map(() =>
      untilKilled(async () => {
        sessions.push(await openSession(platform.mcpUrl, key));
      }),
    );
    await until(() => roles.length > 30 && sessions.length > 30);
    await platform.kill();
    await Promise.all([...writers, ...openers]);
    await platform.svc('up');

    const stored = (await platform.svc('role', 'list')).roles
      .map(({ name }: { name: string }) => name)
      .filter((name: string) => name.startsWith('written-'));
    expect(stored).toEqual(expect.arrayContaining(roles));
    // Each writer had at most one write in flight.
    expect(stored.length - roles.length).toBeLessThanOrEqual(writers.length);
    expect((await revision()) - revisionBefore).toBe(stored.length);
    expect(await recordedRoles()).toEqual(stored.toSorted());
    for (const session of sessions) {
      const { status } = await send(platform.mcpUrl, { key, session, body: rpc('tools/list') });
      expect(status).toBe(200);
    }
  });

  /** Names of the roles whose creation is in the activity. */
  async function recordedRoles(): Promise<string[]> {
    const entries = await everyPage<{ readonly action: string; readonly subjectName: string }>(async ({ after }) => {
      const page = `activity(after: ${JSON.stringify(after)}) { nodes { action subjectName } pageInfo { next } }`;
      return (await ask(`{ workspace(id: "${workspace}") { ${page} } }`)).workspace.activity;
    });
    const created = entries.filter(({ action }) => action === 'create').map(({ subjectName }) => subjectName);
    return created.filter((name) => name.startsWith('written-')).sort();
  }

  test('between a commit and its event: the others notice within the interval of comparison', async () => {
    const { skill } = (await ask(`{ workspace(id: "${workspace}") { skill(name: "waiting") { id } } }`)).workspace;
    // A separate workspace, whose events cause no look at the other workspace.
    const elsewhere = (
      await ask('mutation { createWorkspace(input: { name: "E", ownerEmail: "e@localhost" }) { id } }')
    ).createWorkspace.id;
    const [command = '', ...args] = foreignServers.memory;
    // A service that was just notified has looked, and looks again only after the interval.
    await platform.addServer('announced', foreignServers.memory, ['--workspace', 'E']);
    await platform.addRole('Announced', ['announced']);
    await until(async () => (await agent.text('list_skills')).includes('"announced"'));
    expect(await agent.text('list_skills')).not.toContain('"waiting"');
    await commitAndDie({ workspace, role: { name: 'Unannounced', skills: [skill.id] } });
    await commitAndDie({ workspace: elsewhere, mcpServer: { name: 'unannounced', launch: { command, args } } });
    const status = async (): Promise<string> => {
      const seen = await ask(`{ workspace(id: "${elsewhere}") { mcpServer(name: "unannounced") { status } } }`);
      return seen.workspace.mcpServer.status;
    };
    // Both changes are committed, and no service knows of them yet.
    expect(await status()).toBe('Disconnected');
    expect(await agent.text('list_skills')).not.toContain('"waiting"');
    await until(async () => (await agent.text('list_skills')).includes('"waiting"'), comparedWithinMs);
    await until(async () => (await status()) === 'Connected', comparedWithinMs);
  });

  /** Versions are compared every 15 s, and the machine may be busy. */
  const comparedWithinMs = 30_000;

  /** Makes a change in a separate backend, which is killed after its commit and before its event. */
  async function commitAndDie(what: object): Promise<void> {
    const { parts } = readPlan(platform.installation);
    const program = join(import.meta.dirname, 'commit-and-die.ts');
    const child = spawn(process.execPath, [program, JSON.stringify(what)], {
      env: { ...firstOf('backend', parts).variables },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
  }
});
