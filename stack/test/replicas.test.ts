import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { everyPage } from '../client/every-page.ts';
import { createKeyMutation, createWorkspaceMutation, rolesQuery } from '../client/generated/operations.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { hasCaddy } from '../parts/test/running-caddy.ts';
import type { Agent } from './agent.ts';
import type { Call } from './chaos/agents.ts';
import { hasDgraph, hasNatsServer, Platform } from './platform.ts';
import { type Attempt, again, callsDuring, makeRole, openOne } from './use.ts';

// Starting and stopping eleven processes one after the other while everything is in use.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const backends = ['backend', 'backend-2', 'backend-3'];
/** Every backend, and one of each of the others, all of which other suites kill. */
const killed = [...backends, 'remote-mcp-2', 'runtime-3'];
const keysMax = 40;

interface Used {
  readonly calls: readonly Call[];
  readonly writes: readonly Attempt[];
  readonly sessions: readonly Attempt[];
}

/** Three of each service, with everything that is real. */
describe.skipIf(!hasNatsServer || !hasCaddy || !hasDgraph)('three of each, with Dgraph', () => {
  let platform: Platform;
  let workspace: string;
  /** The workspace that is written to all the while: agents have another, whose catalogue does not change. */
  let written: string;
  let skill: string;
  let agent: Agent;
  let token: () => string;
  const keys: string[] = [];
  /** Roles that were made and acknowledged. */
  const acknowledged = new Set<string>();
  let count = 0;

  beforeAll(async () => {
    const settings = (yaml: string) =>
      yaml.replace(
        /\n {2}backend: 1\n {2}remote-mcp: 1\n {2}runtime: 1\n/,
        '\n  backend: 3\n  remote-mcp: 3\n  runtime: 3\n',
      );
    platform = await Platform.start({ topology: 'distributed', graph: 'dgraph', settings });
    token = operatorTokens(platform.installation, undefined);
    skill = await platform.addEcho();
    const created = await platform.svc('keys', 'create', '--name', 'agent');
    workspace = created.workspace.id;
    keys.push(created.key);
    const backend = await platform.backend();
    while (keys.length < keysMax) {
      const input = { name: `key-${keys.length}` };
      keys.push((await backend.send(createKeyMutation, { workspace, input })).createKey.secret);
    }
    const owned = { name: 'Written', ownerEmail: 'owner@localhost' };
    written = (await backend.send(createWorkspaceMutation, { input: owned })).createWorkspace.id;
    agent = await platform.connect(created.key, `?skillIds=${skill}`);
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  /** Agents call, people change things and sessions are opened while that is done, and before and after it. */
  async function inUse(work: () => Promise<unknown>): Promise<Used> {
    const ending = new AbortController();
    const writing = {
      url: `http://127.0.0.1:${platform.ports.backend}`,
      token,
      workspace: written,
      name: () => `role-${count++}`,
    };
    let turn = 0;
    const nextKey = () => keys[turn++ % keys.length] ?? '';
    const writers = [0, 1].map(() => again(() => makeRole(writing), ending.signal));
    const openers = [0, 1].map(() => again(() => openOne(platform.mcpUrl, nextKey), ending.signal));
    const url = `${platform.mcpUrl}?skillIds=${skill}`;
    const calls = await callsDuring(work, { url, key: keys[0] ?? '', agents: 2, everyMs: 50, withinMs: 60_000 });
    ending.abort();
    const writes = (await Promise.all(writers)).flat();
    for (const { of, outcome } of writes) if (outcome === 'done') acknowledged.add(of);
    return { calls, writes, sessions: (await Promise.all(openers)).flat() };
  }

  const notDone = (attempts: readonly Attempt[]) => attempts.filter(({ outcome }) => outcome !== 'done');
  const notAnswered = (calls: readonly Call[]) => calls.filter(({ outcome }) => outcome !== 'answered');

  async function lost(): Promise<readonly string[]> {
    const backend = await platform.backend();
    const all = await everyPage(
      async (page) => (await backend.send(rolesQuery, { workspace: written, ...page })).workspace?.roles,
    );
    const there = new Set(all.map(({ name }) => name));
    return [...acknowledged].filter((name) => !there.has(name));
  }

  test('during a rolling restart of backends no request fails', async () => {
    platform.edit('fromName: The Service Team', 'fromName: The Other Team');
    const before = await platform.services();
    const { calls, writes, sessions } = await inUse(() => platform.svc('up'));
    const after = await platform.services();
    const changed = [...after.keys()].filter((name) => before.get(name)?.pid !== after.get(name)?.pid);
    expect(changed).toEqual(backends);
    expect([notAnswered(calls), notDone(writes), notDone(sessions)]).toEqual([[], [], []]);
    expect(await lost()).toEqual([]);
  });

  test.each(killed)('%s, killed: no acknowledged change is lost, and failures are named', async (name) => {
    let backAt = 0;
    const { calls, writes, sessions } = await inUse(async () => {
      await platform.killService(name, 60_000);
      backAt = performance.now();
    });
    const failed = [...notAnswered(calls), ...notDone(writes), ...notDone(sessions)];
    for (const { outcome, told } of failed) expect([outcome, told]).toEqual(['refused', expect.anything()]);
    expect(failed.filter(({ begun }) => begun > backAt)).toEqual([]);
    expect(await lost()).toEqual([]);
    expect(await agent.text('echo', { message: name })).toBe(`Echo: ${name}`);
    expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });
});
