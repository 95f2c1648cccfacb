import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { subjects } from '../../../services/contracts/bus/subjects.ts';
import {
  findProcessId,
  newProcessId,
  newSessionId,
  type ProcessId,
  parseId,
  type RuntimeId,
  randomText,
} from '../../../services/contracts/ids.ts';
import { newKey } from '../../../services/contracts/keys.ts';
import { connectionShares } from '../../../services/kit/bus/nats/connection-counts.ts';
import { connectionName, newInbox } from '../../../services/kit/bus/nats/login.ts';
import { ping, send } from '../../../services/remote-mcp/test/raw.ts';
import { mcpServerQuery, revokeRuntimeMutation } from '../../client/generated/operations.ts';
import { startTwoHomes, type TwoHomes } from '../homes.ts';
import { hasNatsServer, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { HostileRuntime } from './hostile-runtime.ts';
import { denied, type Known, manners } from './subject-rows.ts';
import { setTrap } from './trap.ts';
import { startVictim, type Victim } from './victim.ts';
import { publication, WireClient } from './wire-client.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * The attacker has a runtime key and an API key of workspace A; the victims are the platform and workspace B, on the
 * platform's own runtime. An embedded platform has no port for its bus: there, the contract suite of both buses
 * (services/kit/bus/bus.contract.ts) holds these rules.
 */
describe.skipIf(!hasNatsServer)('on a real server', () => {
  let homes: TwoHomes;
  let victim: Victim;
  /** Ids of others that the attacker was shown or has read elsewhere. */
  let known: Known;
  let asBefore: unknown;
  const registered: RuntimeId[] = [];
  const opened: HostileRuntime[] = [];

  beforeAll(async () => {
    homes = await startTwoHomes({ topology: 'distributed' });
    victim = await startVictim(homes);
    const { call } = await sprungTrap();
    asBefore = await readStatus();
    known = {
      platform: readSender(),
      remoteMcp: asProcess(call.asker.split('-').at(-1)),
      remoteMcpEnd: call.asker,
      workspace: parseId('workspace', homes.b.workspace),
      session: newSessionId(),
    };
  }, startTimeoutMs);
  afterEach(() => {
    for (const runtime of opened.splice(0)) runtime.close();
  });
  afterAll(() => homes.platform[Symbol.asyncDispose](), startTimeoutMs);

  /** Registers a new runtime for each row: an attack must not count against the next row. */
  async function hostile(): Promise<HostileRuntime> {
    // A workspace has a bounded number of runtimes, so the oldest is revoked: its attack is over.
    const id = registered.length >= registeredMax ? registered.shift() : undefined;
    const { workspace } = homes.a;
    if (id !== undefined) await homes.backend.send(revokeRuntimeMutation, { workspace, id });
    const runtime = await HostileRuntime.register(homes, `hostile-${randomText(8).toLowerCase()}`);
    opened.push(runtime);
    registered.push(runtime.identity.runtime);
    return runtime;
  }

  /** A trap after its first call, which it answered with this result. */
  async function sprungTrap(result = forgedResult) {
    const { runtime, spring } = await setTrap(homes, await hostile());
    const { call, calling } = await spring();
    runtime.reply(call.message.reply, result);
    return { runtime, spring, call, answer: await calling };
  }

  test('only the first answer to a call that it was sent counts, and no reply under a guessed id', async () => {
    const { runtime, call, answer } = await sprungTrap('{"content":[{"type":"text","text":"mine"}]}');
    expect(answer.text).toContain('mine');
    const { a, b } = homes;
    const principal = {
      ...{ key: a.same.key, keyName: 'forged', user: b.owner.id, workspace: b.workspace },
      ...{ workspaceName: b.name, suspended: false, roles: null, disclosure: 'skills', expiresAt: null },
    };
    const guessed = idsAfter(call.id, 200).map((id) => `_R.${call.asker}.${runtime.end}.${id}`);
    const forge = async () => {
      for (const subject of [call.message.reply, ...guessed]) {
        for (const forged of [forgedResult, JSON.stringify({ ok: true, principal })]) runtime.reply(subject, forged);
      }
      await wait(2);
    };
    const statuses = new Set<number>();
    const tryKey = async () => {
      const answer = await send(homes.platform.mcpUrl, { key: newKey('user').reveal(), body: ping });
      statuses.add(answer.status);
    };
    await victim.expectUndisturbedBy(() => Promise.all([forge, tryKey].map((work) => repeat(2000, work))));
    expect([...statuses]).toEqual([401]);
  });

  test('NATS denies all subjects of others in every manner of sending, and those of its own harm no other', async () => {
    /** Returns the errors of NATS by manner of sending. */
    const trySubject = async (runtime: HostileRuntime, subject: string) => {
      const errors: Record<string, readonly string[]> = {};
      for (const [manner, say] of Object.entries(manners)) {
        const before = runtime.client.errors.length;
        say(runtime, subject);
        await runtime.client.flush().catch(() => {});
        errors[manner] = runtime.client.errors.slice(before);
      }
      return errors;
    };
    const denial = expect.stringMatching(/^'Permissions Violation for Publish to "/);
    await victim.expectUndisturbedBy(async () => {
      const runtime = await hostile();
      for (const subject of denied({ ...known, own: runtime.identity })) {
        for (const [manner, errors] of Object.entries(await trySubject(runtime, subject))) {
          expect([subject, manner, errors]).toEqual([subject, manner, expect.arrayContaining([denial])]);
        }
      }
      await expectAsBefore();
      // The platform closes the connection of a runtime that sends too much.
      for (const kind of ['handshake', 'report', 'heartbeat'] as const) {
        const sender = await hostile();
        await trySubject(sender, subjects[kind](sender.identity.runtime, sender.identity.process));
        await expectAsBefore();
      }
    });
  });

  describe('floods', () => {
    /** Memory of all services when the platform is warm: the victim's calls alone fill heaps. */
    let idleBytes: number;
    beforeAll(async () => {
      await victim.expectUndisturbedBy(() => wait(4000));
      idleBytes = await memoryBytes();
    });

    const heartbeat = ({ identity }: HostileRuntime) => subjects.heartbeat(identity.runtime, identity.process);
    const ofGoodHeartbeat = () => JSON.stringify({ at: Date.now(), inFlight: 0, intervalMs: 5000, version: '1' });
    const framed = (subject: string, payload: string, frame: string) =>
      publication(subject, payload, { headers: { 'Svc-Frame': frame } });
    const questionFrame = (kind: 'report' | 'handshake', payload: string, frame: string) => (by: HostileRuntime) =>
      publication(subjects[kind](by.identity.runtime, by.identity.process), payload, {
        reply: `_R.${by.end}.backend.${randomText(10)}`,
        headers: { 'Svc-Frame': frame },
      });
    /** Each frame belongs to another message, so that all are sent at once. */
    const unfinished = (by: HostileRuntime) =>
      Array.from({ length: 20_000 }, (_, index) =>
        publication(heartbeat(by), '', { headers: { 'Svc-Frame': 'message+', 'Svc-Message': `m${index}` } }),
      );

    test.each<[name: string, count: number, message: (runtime: HostileRuntime) => Buffer]>([
      ['heartbeats that are good', 200_000, (by) => publication(heartbeat(by), ofGoodHeartbeat())],
      ['heartbeats that are no JSON', 200_000, (by) => publication(heartbeat(by), '{')],
      ['empty frames of reports that never end', 60_000, questionFrame('report', '', 'question+')],
      ['handshakes, one after the other', 60_000, questionFrame('handshake', '{}', 'question')],
      [
        'replies that nobody asked for',
        200_000,
        ({ end }) => framed(`_R.${known.remoteMcpEnd}.${end}.${randomText(10)}`, forgedResult, 'final'),
      ],
      [
        'frames for exchanges with the backend that there are not',
        200_000,
        ({ end }) => framed(`_C.backend.${end}.${randomText(10)}`, '', 'waiting'),
      ],
      ['unfinished messages in frames', 1, (by) => Buffer.concat(unfinished(by))],
    ])(
      '%s, and memory is afterwards what it was',
      async (_, count, message) => {
        const senders: RuntimeId[] = [];
        const sent = await victim.expectUndisturbedBy(async () => {
          const runtime = await hostile();
          senders.push(runtime.identity.runtime);
          return await runtime.flood(message(runtime), count);
        });
        expect(sent).toBeGreaterThan(0);
        for (const sender of senders) {
          expect(linesWith(sender, ['backend', 'remote-mcp']).length).toBeLessThan(linesMax);
        }
        await expectAsBefore();
        await until(async () => (await memoryBytes()) <= 1.1 * idleBytes, settleMs);
      },
      testTimeoutMs + settleMs,
    );
  });

  test('a runtime has only so many connections at once, however often it tries', async () => {
    const runtime = await hostile();
    const entered: HostileRuntime[] = [];
    await victim.expectUndisturbedBy(async () => {
      for (let round = 0; round < 8; round++) {
        const connecting = Array.from({ length: 32 }, () => runtime.connectAs(newProcessId()).catch(() => null));
        entered.push(...(await Promise.all(connecting)).filter((one) => one !== null));
      }
    });
    opened.push(...entered);
    // The runtime's own connection counts too.
    expect(entered.filter(({ client }) => !client.closed).length).toBeLessThan(connectionShares.runtime);
    const named = linesWith('opened too many connections', ['backend']);
    expect(named).toEqual([expect.stringContaining(runtime.identity.name)]);
    await expectAsBefore();
  });

  test('a call in as many copies as a process can have made, none of which is read', async () => {
    const { runtime, spring } = await sprungTrap();
    const before = await memoryBytes();
    const entered: HostileRuntime[] = [];
    await victim.expectUndisturbedBy(async () => {
      for (let i = 0; i < 8; i++) {
        const again = await runtime.connectAs().catch(() => null);
        if (again === null) continue;
        entered.push(again);
        const { client, end, identity } = again;
        for (let copy = 0; copy < 120; copy++) {
          client.subscribe(copy % 2 === 0 ? `_C.${end}.*.*` : subjects.call(identity.runtime, identity.process));
        }
        await client.flush().catch(() => {});
        client.socket.pause();
      }
      const { call, calling } = await spring(3_000_000);
      const grown = (await memoryBytes()) - before;
      expect(grown).toBeLessThan(connectionShares.process * 128_000_000 + 100_000_000);
      runtime.reply(call.message.reply, forgedResult);
      await calling;
    });
    for (const one of entered) one.close();
    // This includes the first connection, which reads.
    expect(entered.length).toBeLessThan(2 * connectionShares.process);
    await expectAsBefore();
  });

  test("a process with another runtime's process id does not change that one's reports", async () => {
    const same = await (await hostile()).connectAs(known.platform.process);
    opened.push(same);
    expect(same.identity.process).not.toBe(known.platform.process);
    await same.report([]);
    same.close();
    await expectAsBefore();
  });

  test('strangers connect hundreds of times, and get no more than the places for asking why', async () => {
    const { port, httpPort } = homes.platform.busPorts;
    const entered: WireClient[] = [];
    const connect = async (user: string) => {
      const name = connectionName(newProcessId(), newInbox());
      entered.push(await WireClient.connect(port, { user, pass: noKey, name }));
    };
    const outcomes = await victim.expectUndisturbedBy(async () => {
      const tries: PromiseSettledResult<void>[] = [];
      for (let i = 0; i < 20; i++) {
        const users = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'why runtime' : 'runtime'));
        tries.push(...(await Promise.allSettled(users.map(connect))));
      }
      return tries;
    });
    for (const client of entered) client.close();
    expect(outcomes).toHaveLength(400);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(128);
    const written = linesWith('refused a connection to the bus', ['backend']).length;
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(20);
    expect(linesWith(noKey, ['backend'])).toEqual([]);
    // The clients do not reach the monitoring of NATS either.
    for (const at of [httpPort, 8222]) await expect(fetch(`http://127.0.0.1:${at}/connz`)).rejects.toThrow();
  });

  /** Log lines of these services that contain these words. */
  function linesWith(words: string, services: readonly string[]): readonly string[] {
    const logs = services.map((name) => join(homes.platform.installation.logsDir, `${name}.log`));
    return logs.flatMap((file) => readFileSync(file, 'utf8').split('\n')).filter((line) => line.includes(words));
  }

  /** The victim's MCP server has the same status as before any attack. */
  async function expectAsBefore(): Promise<void> {
    expect(await readStatus()).toEqual(asBefore);
  }

  /** Memory of all services together. */
  async function memoryBytes(): Promise<number> {
    const services = [...(await homes.platform.services()).values()];
    return services.reduce((sum, { memoryBytes }) => sum + (memoryBytes ?? 0), 0);
  }

  async function readStatus() {
    const { workspace, same } = homes.b;
    const seen = await homes.backend.send(mcpServerQuery, { workspace, id: same.mcpServer });
    const { status, health, reason } = seen.workspace?.mcpServer ?? expect.fail();
    return { status, health, reason, ...readSender() };
  }

  /** The graph's record of the runtime process in which the victim's MCP server is Connected. */
  function readSender() {
    const file = join(homes.platform.installation.dataDir, 'graph.sqlite');
    using graph = new DatabaseSync(file, { readOnly: true });
    const row = graph.prepare('select runtime, process from status where mcpServer = ?').get(homes.b.same.mcpServer);
    return { runtime: parseId('runtime', String(row?.runtime)), process: asProcess(row?.process) };
  }
});

/** Fewer than `runtimesMax`, because the workspace has runtimes of its own. */
const registeredMax = 15;
/** Lines about one runtime that floods the bus: its connections, disconnections and refusals. */
const linesMax = 20;
/** NATS collects garbage when it has time, every two minutes at the latest, and releases memory gradually. */
const settleMs = 140_000;
const noKey = 'RTK-nobody-knows-it';
const forgedResult = '{"content":[{"type":"text","text":"forged"}]}';

/** The ids that would follow this one, if ids were a constant prefix and a counter in base 36. */
function idsAfter(id: string, count: number): readonly string[] {
  const [head, tail] = [id.slice(0, 6), Number.parseInt(id.slice(6), 36)];
  return Array.from({ length: count }, (_, index) => `${head}${(tail + index + 1).toString(36)}`);
}

async function repeat(forMs: number, work: () => Promise<void>): Promise<void> {
  const until = performance.now() + forMs;
  while (performance.now() < until) await work();
}

function asProcess(text: unknown): ProcessId {
  return findProcessId(String(text)) ?? expect.fail(`"${text}" is no process`);
}
