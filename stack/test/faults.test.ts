import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { everyPage } from '../client/every-page.ts';
import { createRoleMutation } from '../client/generated/operations.ts';
import { readPlan } from '../engines/plan-of.ts';
import { firstOf } from '../parts/parts.ts';
import type { Agent } from './agent.ts';
import { foreignServers, misbehaving } from './foreign-servers.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { processesAreShown, processesOf } from './running-processes.ts';
import { canMount, SmallDisk } from './small-disk.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** At the worst of moments: what was acknowledged is there after the next `svc up`, and sessions go on. */
describe('a kill -9 of the platform', () => {
  let platform: Platform;
  let workspace: string;
  let key: string;
  let agent: Agent;

  const slow = { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 600 } };

  beforeAll(async () => {
    platform = await Platform.start();
    // The first of two tools of one name gets the bare one.
    await platform.addServer('everything', foreignServers.everything);
    await platform.addServer('stubborn', misbehaving('stubborn'));
    const tools = ['everything/trigger-long-running-operation', 'everything/get-sum', 'stubborn/echo'];
    const skill = await platform.addSkill('all', tools);
    for (const name of ['announced', 'waiting']) await platform.addSkill(name, ['everything/echo']);
    await platform.addRole('All', ['all']);
    key = await platform.addKey('agent');
    workspace = (await ask(`{ workspaces { nodes { id } } }`)).workspaces.nodes[0].id;
    agent = await platform.connect(key, `?skillIds=${skill}`);
  }, startTimeoutMs);
  afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async function ask(query: string): Promise<any> {
    return (await platform.backend()).query(query, {}, (data) => data);
  }

  const callSlowly = () => send(platform.mcpUrl, { key, session: agent.session, body: rpc('tools/call', slow) });

  test('during calls: they fail, the next start ends leftovers, and the session continues', {
    timeout: startTimeoutMs,
  }, async () => {
    const stubborn = Number(await agent.text('stubborn_echo'));
    const calls = Array.from({ length: 8 }, () => callSlowly().catch((error: Error) => error));
    await new Promise<void>((begun) => {
      agent.client.callTool(slow, { onprogress: () => begun(), timeout: 30_000 }).catch(() => undefined);
    });
    const before = processesOf(platform.installation.dir).map(({ pid }) => pid);
    await platform.kill();
    for (const outcome of await Promise.all(calls)) expect(outcome).toBeInstanceOf(Error);
    // It neither listens to signals nor minds that its input has ended.
    expect(() => process.kill(stubborn, 0)).not.toThrow();
    await platform.svc('up');
    if (processesAreShown) {
      const present = () => processesOf(platform.installation.dir).map(({ pid }) => pid);
      await until(() => present().length === 3);
      expect(present().filter((pid) => before.includes(pid))).toEqual([]);
    }
    await until(async () => (await agent.text('list_skills')).includes('Available, 3 tools'));
    expect(await agent.text('get-sum', { a: 1, b: 2 })).toContain('3');
    expect(Number(await agent.text('stubborn_echo'))).not.toBe(stubborn);
    expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  describe.each([1, 2])('during writes, round %i', (round) => {
    test('every acknowledged change is there with its record, and none by halves', {
      timeout: startTimeoutMs,
    }, async () => {
      const revision = async () => (await ask(`{ workspace(id: "${workspace}") { revision } }`)).workspace.revision;
      const revisionBefore = await revision();
      const roles: string[] = [];
      const sessions: string[] = [];
      const backend = await platform.backend();
      const untilKilled = async (write: (i: number) => Promise<void>) => {
        try {
          for (let i = 0; ; i++) await write(i);
        } catch {
          // That is the kill: nothing else refuses these writes.
        }
      };
      const writers = [1, 2, 3].map((writer) =>
        untilKilled(async (i) => {
          const name = `r${round}-${writer}-${i}`;
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
        .filter((name: string) => name.startsWith(`r${round}-`));
      expect(stored).toEqual(expect.arrayContaining(roles));
      // Each writer had at most one write under way.
      expect(stored.length - roles.length).toBeLessThanOrEqual(writers.length);
      expect((await revision()) - revisionBefore).toBe(stored.length);
      expect(await recordedRoles(`r${round}-`)).toEqual(stored.toSorted());
      for (const session of sessions) {
        const { status } = await send(platform.mcpUrl, { key, session, body: rpc('tools/list') });
        expect(status).toBe(200);
      }
    });
  });

  /** Names of the roles whose making the activity tells. */
  async function recordedRoles(prefix: string): Promise<string[]> {
    const entries = await everyPage<{ readonly action: string; readonly subjectName: string }>(async ({ after }) => {
      const page = `activity(after: ${JSON.stringify(after)}) { nodes { action subjectName } pageInfo { next } }`;
      return (await ask(`{ workspace(id: "${workspace}") { ${page} } }`)).workspace.activity;
    });
    const created = entries.filter(({ action }) => action === 'create').map(({ subjectName }) => subjectName);
    return created.filter((name) => name.startsWith(prefix)).sort();
  }

  test('between a commit and its event: the others notice within the interval of comparison', {
    timeout: startTimeoutMs,
  }, async () => {
    const { skill } = (await ask(`{ workspace(id: "${workspace}") { skill(name: "waiting") { id } } }`)).workspace;
    // In a workspace of its own, so that none of its events makes anybody look at the other.
    const elsewhere = (
      await ask('mutation { createWorkspace(input: { name: "E", ownerEmail: "e@localhost" }) { id } }')
    ).createWorkspace.id;
    const [command = '', ...args] = foreignServers.memory;
    // Who was told has just looked, and looks again only when the interval is over.
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
    // The commits are there, and nobody knows of them yet.
    expect(await status()).toBe('Disconnected');
    expect(await agent.text('list_skills')).not.toContain('"waiting"');
    await until(async () => (await agent.text('list_skills')).includes('"waiting"'), comparedWithinMs);
    await until(async () => (await status()) === 'Connected', comparedWithinMs);
  });

  /** Versions are compared every 15 s, and the machine may be busy. */
  const comparedWithinMs = 30_000;

  /** Makes a change in a backend of its own, which is killed when it has committed and is about to tell. */
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

describe.skipIf(!canMount)('a disk that gets full', () => {
  let disk: SmallDisk;
  let platform: Platform;
  let workspace: string;
  let key: string;
  let agent: Agent;

  beforeAll(async () => {
    disk = SmallDisk.mount(mkdtempSync(join(tmpdir(), 'svc-small-disk-')), 96);
    platform = await Platform.start({ within: disk.folder });
    await platform.addServer('everything', foreignServers.everything);
    const skill = await platform.addSkill('demo', ['everything/echo']);
    await platform.addRole('before', ['demo']);
    const created = await platform.svc('keys', 'create', '--name', 'agent');
    key = created.key;
    workspace = created.workspace.id;
    agent = await platform.connect(key, `?skillIds=${skill}`);
  }, startTimeoutMs);
  afterAll(async () => {
    disk.makeRoom();
    try {
      await platform[Symbol.asyncDispose]();
    } finally {
      disk[Symbol.dispose]();
      rmSync(disk.folder, { recursive: true });
    }
  }, startTimeoutMs);

  const roles = async () => (await platform.svc('role', 'list')).roles.map(({ name }: { name: string }) => name);
  const acknowledged = ['before'];

  test('refuses changes by name, still serves reads, calls and status, and takes changes once there is room', async () => {
    disk.fill();
    acknowledged.push(...(await addRolesUntilRefused()));
    const refused = await platform.fails('role', 'create', 'one-more');
    expect(refused).toMatchObject({
      code: 4,
      json: {
        error: { code: 'unavailable', message: expect.stringMatching(/disk is full/), hint: expect.any(String) },
      },
    });
    for (let i = 0; i < 20; i++) expect(await agent.text('echo', { message: `${i}` })).toBe(`Echo: ${i}`);
    expect(await roles()).toEqual(acknowledged.toSorted());
    expect((await platform.svc('status')).state).toBe('running');
    // A session that could not be kept is not promised; the key is as good as ever.
    const body = rpc('initialize', { protocolVersion: '2025-11-25' });
    const session = await send(platform.mcpUrl, { key, body });
    expect([session.status, session.body.error?.data.code]).toEqual([503, 'unavailable']);
    expect((await send(platform.mcpUrl, { key, body: rpc('ping') })).status).toBe(200);
    disk.makeRoom();
    await platform.addRole('after', ['demo']);
    acknowledged.push('after');
    expect(await roles()).toEqual(acknowledged.toSorted());
    await platform.connect(key);
  });

  test('stops while the disk is full, reports why it cannot start, and starts with all data once there is room', {
    timeout: startTimeoutMs,
  }, async () => {
    disk.fill();
    const begun = performance.now();
    await platform.svc('down');
    // By itself, and not because it was cut short.
    expect(performance.now() - begun).toBeLessThan(8000);
    const { json } = await platform.fails('up');
    expect(json.error.message).toMatch(/disk is full/);
    disk.makeRoom();
    await platform.svc('up');
    expect(await roles()).toEqual(acknowledged.toSorted());
    await until(async () => (await agent.text('echo', { message: 'x' }).catch(() => '')) === 'Echo: x');
  });

  /** A kilobyte each: the room that databases have left of their own is less by far. */
  const fillersMax = 500;

  async function addRolesUntilRefused(): Promise<string[]> {
    const backend = await platform.backend();
    const made: string[] = [];
    for (let i = 0; i < fillersMax; i++) {
      const input = { name: `filler-${String(i).padStart(4, '0')}`, description: 'x'.repeat(1000) };
      try {
        await backend.send(createRoleMutation, { workspace, input });
        made.push(input.name);
      } catch {
        return made;
      }
    }
    throw new Error('the disk is full and changes are taken');
  }
});
