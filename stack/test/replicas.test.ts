import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { graphqlPath } from '../../services/contracts/token.ts';
import { openSession } from '../../services/remote-mcp/test/raw.ts';
import { everyPage } from '../client/every-page.ts';
import { createKeyMutation, createWorkspaceMutation, rolesQuery } from '../client/generated/operations.ts';
import { operatorTokens } from '../client/operator-token.ts';
import { hasCaddy } from '../parts/test/running-caddy.ts';
import type { Agent } from './agent.ts';
import type { Call } from './chaos/agents.ts';
import { failedDuring } from './failed-during.ts';
import { hasDgraph, hasNatsServer, Platform } from './platform.ts';

// Eleven processes stop and start one after the other, under load.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const backends = ['backend', 'backend-2', 'backend-3'];
/** Every backend, and one replica of each other service. Other suites kill all of those. */
const killed = [...backends, 'remote-mcp-2', 'runtime-3'];
const keysMax = 40;
const everyMs = 100;
const deadlineMs = 40_000;
const toldMax = 300;

type Failed = Pick<Call, 'begun' | 'outcome' | 'told'>;

/** Uses the platform until the end. A refusal must give its reason, and must say so if the outcome is unknown. */
async function failedAgain(use: () => Promise<string | null>, ending: AbortSignal): Promise<readonly Failed[]> {
  const named = /50[23] .*(was not carried out|may have been carried out or not)|"code":"(unavailable|timeout)"/;
  const failed: Failed[] = [];
  while (!ending.aborted) {
    const begun = performance.now();
    const answer = await use().catch((error: Error) => `${error}: ${error.cause}`);
    const outcome = named.test(answer ?? '') ? 'refused' : 'wrong';
    if (answer !== null) failed.push({ begun, outcome, told: answer.slice(0, toldMax) });
    await pause(everyMs, undefined, { signal: ending }).catch(() => {});
  }
  return failed;
}

/** Three replicas of each service, all of them real programs. */
describe.skipIf(!hasNatsServer || !hasCaddy || !hasDgraph)('three of each, with Dgraph', () => {
  let platform: Platform;
  /** The workspace that is changed all the time. Agents use another, whose catalogue does not change. */
  let written: string;
  let url: string;
  let agent: Agent;
  let token: () => string;
  const keys: string[] = [];
  /** Names of the roles whose creation was acknowledged. */
  const acknowledged = new Set<string>();
  let count = 0;

  beforeAll(async () => {
    const replicas = { backend: 3, 'remote-mcp': 3, runtime: 3 };
    platform = await Platform.start({ topology: 'distributed', graph: 'dgraph', replicas });
    token = operatorTokens(platform.installation, undefined);
    const added = await platform.addAgent();
    ({ agent, url } = added);
    keys.push(added.key);
    const [backend, workspace] = [await platform.backend(), await platform.workspace()];
    while (keys.length < keysMax) {
      const input = { name: `key-${keys.length}` };
      keys.push((await backend.send(createKeyMutation, { workspace, input })).createKey.secret);
    }
    const owned = { name: 'Written', ownerEmail: 'owner@localhost' };
    written = (await backend.send(createWorkspaceMutation, { input: owned })).createWorkspace.id;
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  /** Agents call, people make changes and sessions are opened during the work. Returns the failures. */
  async function failedIn(work: () => Promise<unknown>): Promise<readonly Failed[]> {
    const ending = new AbortController();
    const using = [makeRole, makeRole, openOne, openOne].map((use) => failedAgain(use, ending.signal));
    const calls = await failedDuring(work, { url, key: keys[0] ?? '', agents: 2, everyMs: 50, withinMs: 60_000 });
    ending.abort();
    return [...calls, ...(await Promise.all(using)).flat()];
  }

  /** Creates a role over GraphQL, as a person's browser would. Returns the refusal. */
  async function makeRole(): Promise<string | null> {
    const name = `role-${count++}`;
    const query = 'mutation ($w: ID!, $name: String!) { createRole(workspace: $w, input: { name: $name }) { name } }';
    const response = await fetch(`http://127.0.0.1:${platform.ports.backend}${graphqlPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { w: written, name } }),
      signal: AbortSignal.timeout(deadlineMs),
    });
    const answer = `${response.status} ${await response.text()}`;
    if (!answer.includes(`"createRole":{"name":"${name}"}`)) return answer;
    acknowledged.add(name);
    return null;
  }

  /** Opens a session with the next key, which remote-mcp must have checked. */
  async function openOne(): Promise<string | null> {
    const key = keys[count++ % keys.length] ?? '';
    return openSession(platform.mcpUrl, key).then(() => null, String);
  }

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
    let changed: readonly string[] = [];
    const failed = await failedIn(async () => {
      changed = await platform.changedBy(() => platform.svc('up'));
    });
    expect(changed).toEqual(backends);
    expect(failed).toEqual([]);
    expect(await lost()).toEqual([]);
  });

  test.each(killed)('%s, killed: no acknowledged change is lost, and failures are named', async (name) => {
    let backAt = 0;
    const failed = await failedIn(async () => {
      await platform.killService(name, 60_000);
      backAt = performance.now();
    });
    for (const { outcome, told } of failed) expect([outcome, told]).toEqual(['refused', expect.anything()]);
    expect(failed.filter(({ begun }) => begun > backAt)).toEqual([]);
    expect(await lost()).toEqual([]);
    expect(await agent.text('echo', { message: name })).toBe(`Echo: ${name}`);
    expect(agent.sessionsBegun()).toBe(1);
  });
});
