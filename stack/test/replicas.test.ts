import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { everyPage } from '../client/every-page.ts';
import { rolesQuery } from '../client/generated/operations.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { hasCaddy } from '../parts/test/running-caddy.ts';
import type { Agent } from './agent.ts';
import { type Call, Agent as Worker } from './chaos/agents.ts';
import { echoTool, hasDgraph, hasNatsServer, Platform } from './platform.ts';
import { until } from './until.ts';
import { type Attempt, again, makeRole, openOne } from './use.ts';

// Starting and stopping eleven processes one after the other while everything is in use.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const backends = ['backend', 'backend-2', 'backend-3'];
const replicas = [...backends, 'remote-mcp', 'remote-mcp-2', 'remote-mcp-3', 'runtime', 'runtime-2', 'runtime-3'];
/** Every backend, and one of each of the others, all of which other suites kill. */
const killed = [...backends, 'remote-mcp-2', 'runtime-3'];
const keysMax = 40;

interface Service {
  readonly name: string;
  readonly state: string;
  readonly url: string;
  readonly pid: number;
  readonly restarts: number;
}

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
    const document =
      'mutation ($w: ID!, $name: String!) { createKey(workspace: $w, input: { name: $name }) { secret } }';
    const secret = z.object({ createKey: z.object({ secret: z.string() }) });
    while (keys.length < keysMax) {
      const { createKey } = await backend.query(document, { w: workspace, name: `key-${keys.length}` }, secret.parse);
      keys.push(createKey.secret);
    }
    const made = z.object({ createWorkspace: z.object({ id: z.string() }) });
    const another = 'mutation { createWorkspace(input: { name: "Written", ownerEmail: "owner@localhost" }) { id } }';
    written = (await backend.query(another, {}, made.parse)).createWorkspace.id;
    agent = await platform.connect(created.key, `?skillIds=${skill}`);
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  async function services(): Promise<ReadonlyMap<string, Service>> {
    const { services }: { services: readonly Service[] } = await platform.svc('status');
    return new Map(services.map((service) => [service.name, service]));
  }

  /** Agents call, people change things and sessions are opened while that is done, and before and after it. */
  async function inUse(work: () => Promise<unknown>): Promise<Used> {
    const ending = new AbortController();
    const calls: Call[] = [];
    const onCall = (call: Call) => void calls.push(call);
    const urls = [`${platform.mcpUrl}?skillIds=${skill}`];
    const worker = (number: number) =>
      new Worker(number, { urls, key: keys[0] ?? '', echo: echoTool, everyMs: 50, onCall });
    const working = [worker(0), worker(1)].map((one) => one.work(ending.signal));
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
    const more = (than: number) => until(() => calls.length > than + 20, 60_000);
    await more(0);
    await work();
    await more(calls.length);
    ending.abort();
    await Promise.all(working);
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

  test('people and agents have one address of each service, and each process its own', async () => {
    const seen = await services();
    for (const name of replicas) expect(seen.get(name), name).toMatchObject({ state: 'healthy', restarts: 0 });
    expect(new Set([...seen.values()].map(({ url }) => url)).size).toBe(seen.size);
    const { urls } = await platform.svc('status');
    expect(urls).toMatchObject({
      api: `http://localhost:${platform.ports.backend}`,
      mcp: `http://localhost:${platform.ports['remote-mcp']}/mcp`,
    });
    const ready = await fetch(`${urls.api}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ready' }]);
    const { workspaces } = await (await platform.backend()).query(
      '{ workspaces(first: 10) { nodes { name } } }',
      {},
      z.object({ workspaces: z.object({ nodes: z.array(z.object({ name: z.string() })) }) }).parse,
    );
    expect(workspaces.nodes.map(({ name }) => name)).toEqual(['Default', 'Written']);
    expect((await platform.svc('logs', 'backend-3')).lines.length).toBeGreaterThan(0);
  });

  test('during a rolling restart of backends no request fails', async () => {
    platform.edit('fromName: The Service Team', 'fromName: The Other Team');
    const before = await services();
    const { calls, writes, sessions } = await inUse(() => platform.svc('up'));
    const after = await services();
    const changed = [...after.keys()].filter((name) => before.get(name)?.pid !== after.get(name)?.pid);
    expect(changed).toEqual(backends);
    expect([notAnswered(calls), notDone(writes), notDone(sessions)]).toEqual([[], [], []]);
    expect(await lost()).toEqual([]);
  });

  test.each(killed)('%s, killed: no acknowledged change is lost, and failures are named', async (name) => {
    const before = (await services()).get(name);
    let backAt = 0;
    const { calls, writes, sessions } = await inUse(async () => {
      process.kill(before?.pid ?? 0, 'SIGKILL');
      await until(async () => {
        const now = (await services()).get(name);
        return now?.restarts === (before?.restarts ?? 0) + 1 && now.state === 'healthy';
      }, 60_000);
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
