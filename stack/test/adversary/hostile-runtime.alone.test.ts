import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
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
import { ping, send } from '../../../services/remote-mcp/test/raw.ts';
import type { BackendClient } from '../../client/backend-client.ts';
import { type Home, startTwoHomes } from '../homes.ts';
import { hasNatsServer, type Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { HostileRuntime } from './hostile-runtime.ts';
import { foreign, type Known, manners, type Sender, subjectRows } from './subject-rows.ts';
import { setTrap } from './trap.ts';
import { Victim } from './victim.ts';
import { publication } from './wire-client.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * The attacker has one runtime key and one API key, both of workspace A, and writes every byte that it sends to the bus. The victims are workspace
 * B, whose MCP server runs in the platform's own runtime, and the platform. An embedded platform has no port for its bus and no runtime elsewhere:
 * there, the contract suite of both buses (services/kit/bus/bus.contract.ts) holds these rules.
 */
describe.skipIf(!hasNatsServer)('on a real server', () => {
  let platform: Platform;
  let backend: BackendClient;
  let attacker: Home;
  let victims: Home;
  let victim: Victim;
  /** What the attacker knows of others: ids that it was shown, or read somewhere. */
  let known: Known;
  let asBefore: unknown;
  const registered: RuntimeId[] = [];
  const opened: HostileRuntime[] = [];

  beforeAll(async () => {
    ({ platform, backend, a: attacker, b: victims } = await startTwoHomes({ topology: 'distributed' }));
    const [mcpUrl, key] = [platform.mcpUrl, victims.same.keyText];
    victim = await Victim.start({ mcpUrl, key, tool: 'get-env', arguments: {}, answer: victims.mark });
    const sprung = await trap();
    const { call, calling } = await sprung.spring();
    sprung.runtime.reply(call.message.reply, forgedResult);
    await calling;
    asBefore = await readStatus();
    known = {
      platform: readSender(platform, victims.same.mcpServer),
      remoteMcp: processOf(call.asker),
      remoteMcpEnd: call.asker,
      workspace: parseId('workspace', victims.workspace),
      session: newSessionId(),
    };
  }, startTimeoutMs);
  afterEach(() => {
    for (const runtime of opened.splice(0)) runtime.close();
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
  }, startTimeoutMs);

  /** A fresh one for each row: what one of them did must not count against the next. */
  async function hostile(): Promise<HostileRuntime> {
    const options = { busPort: platform.busPorts.port, backend, workspace: attacker.workspace };
    // A workspace has a bounded number of runtimes: the oldest has attacked long ago.
    if (registered.length >= registeredMax) await revoke(registered.shift());
    const runtime = await HostileRuntime.register(options, `hostile-${randomText(8).toLowerCase()}`);
    opened.push(runtime);
    registered.push(runtime.identity.runtime);
    return runtime;
  }

  async function revoke(id: RuntimeId | undefined): Promise<void> {
    const query = 'mutation ($w: ID!, $id: ID!) { revokeRuntime(workspace: $w, id: $id) }';
    await backend.query(query, { w: attacker.workspace, id }, () => undefined);
  }

  const trap = async () => setTrap({ platform, backend, home: attacker, runtime: await hostile() });

  describe('replies', () => {
    test('the answer to a call that it was sent counts, and nothing after it', async () => {
      const sprung = await trap();
      const { call, calling } = await sprung.spring();
      sprung.runtime.reply(call.message.reply, '{"content":[{"type":"text","text":"mine"}]}');
      expect((await calling).text).toContain('mine');
      await victim.expectUndisturbedBy(async () => {
        for (let i = 0; i < 100; i++) sprung.runtime.reply(call.message.reply, forgedResult);
        await sprung.runtime.client.flush();
      });
    });

    test('replies under guessed ids are ignored: a key that was never issued stays refused', async () => {
      const sprung = await trap();
      const { call, calling } = await sprung.spring();
      sprung.runtime.reply(call.message.reply, forgedResult);
      await calling;
      const principal = {
        ...{ key: attacker.same.key, keyName: 'forged', user: victims.owner.id, workspace: victims.workspace },
        ...{ workspaceName: victims.name, suspended: false, roles: null, expiresAt: null },
      };
      const forged = JSON.stringify({ ok: true, principal });
      const answer = await victim.expectUndisturbedBy(async () => {
        const forging = repeat(2000, () => {
          for (const id of idsAfter(call.id, 200)) {
            sprung.runtime.reply(`_R.${call.asker}.${sprung.runtime.end}.${id}`, forged);
          }
        });
        const seen: number[] = [];
        while (!forging.ended) {
          const answer = await send(platform.mcpUrl, { key: newKey('user').reveal(), body: ping });
          seen.push(answer.status);
        }
        return [...new Set(seen)];
      });
      expect(answer).toEqual([401]);
    });

    test('replies under guessed ids are ignored: a victim gets the result of its own tool', async () => {
      const sprung = await trap();
      const { call, calling } = await sprung.spring();
      sprung.runtime.reply(call.message.reply, forgedResult);
      await calling;
      await victim.expectUndisturbedBy(async () => {
        const forging = repeat(2000, () => {
          for (const id of idsAfter(call.id, 200)) {
            sprung.runtime.reply(`_R.${call.asker}.${sprung.runtime.end}.${id}`, forgedResult);
          }
        });
        await forging.finished;
      });
    });
  });

  describe('subjects', () => {
    interface Tried {
      /** Every row in every manner of sending. */
      readonly attempts: readonly { readonly subject: string; readonly manner: string; readonly isWrong: boolean }[];
      readonly statusAfter: unknown;
    }
    const tried = new Map<string, Tried>();

    // The rows take milliseconds, and the victim is watched for seconds: once, during all of them.
    beforeAll(async () => {
      await victim.expectUndisturbedBy(async () => {
        for (const [name, rowsFor] of Object.entries(subjectRows)) tried.set(name, await tryAll(rowsFor));
      });
    }, testTimeoutMs);

    async function tryAll(rowsFor: (typeof subjectRows)[string]): Promise<Tried> {
      const runtime = await hostile();
      const attempts = [];
      // What is granted comes last: the platform closes the connection of a runtime that sends too much.
      const inOrder = rowsFor({ ...known, own: runtime.identity }).toSorted(
        (a, b) => Number(a.granted) - Number(b.granted),
      );
      for (const { subject, granted, deniedAs = subject } of inOrder) {
        for (const [manner, say] of Object.entries(manners)) {
          const before = runtime.client.errors.length;
          say(runtime, subject);
          await runtime.client.flush().catch(() => {});
          const denied = runtime.client.errors
            .slice(before)
            .some((error) => error.startsWith(`'Permissions Violation for Publish to "${deniedAs}"`));
          attempts.push({ subject, manner, isWrong: !granted && !denied });
        }
      }
      return { attempts, statusAfter: await readStatus() };
    }

    test.each(Object.keys(subjectRows))('%s', (name) => {
      const { attempts, statusAfter } = tried.get(name) ?? expect.fail();
      expect(attempts).not.toEqual([]);
      expect(attempts.filter(({ isWrong }) => isWrong)).toEqual([]);
      expect(statusAfter).toEqual(asBefore);
    });

    test('nothing of others can be heard', async () => {
      const runtime = await hostile();
      const by = { ...known, own: runtime.identity };
      const patterns = [
        ...['>', '*', 'svc.>', 'svc.runtime.>', '_R.>', '_C.>', '_I.>', '_INBOX.>', '$SYS.>', '$JS.>', '$KV.>'],
        ...foreign(by, subjects.call),
        ...['svc.event.>', 'svc.session.*', 'svc.heartbeat.*.*', '_G.>'],
      ];
      for (const pattern of patterns) {
        const before = runtime.client.errors.length;
        runtime.client.subscribe(pattern);
        await runtime.client.flush();
        expect([pattern, runtime.client.errors.slice(before)]).toEqual([
          pattern,
          [expect.stringContaining('Permissions Violation for Subscription')],
        ]);
      }
    });
  });

  describe('floods', () => {
    const floods: Readonly<Record<string, (runtime: HostileRuntime) => { message: Buffer; count: number }>> = {
      'heartbeats that are good': ({ identity: { runtime, process } }) => ({
        message: publication(
          subjects.heartbeat(runtime, process),
          JSON.stringify({ at: Date.now(), inFlight: 0, intervalMs: 5000, version: '1' }),
        ),
        count: 200_000,
      }),
      'heartbeats that are no JSON': ({ identity: { runtime, process } }) => ({
        message: publication(subjects.heartbeat(runtime, process), '{'),
        count: 200_000,
      }),
      'empty frames of reports that never end': ({ end, identity: { runtime, process } }) => ({
        message: publication(subjects.report(runtime, process), '', {
          reply: `_R.${end}.backend.${randomText(10)}`,
          headers: { 'Svc-Frame': 'question+' },
        }),
        count: 60_000,
      }),
      'handshakes, one after the other': ({ end, identity: { runtime, process } }) => ({
        message: publication(subjects.handshake(runtime, process), '{}', {
          reply: `_R.${end}.backend.${randomText(10)}`,
          headers: { 'Svc-Frame': 'question' },
        }),
        count: 60_000,
      }),
      'replies that nobody asked for': ({ end }) => ({
        message: publication(`_R.${known.remoteMcpEnd}.${end}.${randomText(10)}`, forgedResult, {
          headers: { 'Svc-Frame': 'final' },
        }),
        count: 200_000,
      }),
      'frames for exchanges with the backend that there are not': ({ end }) => ({
        message: publication(`_C.backend.${end}.${randomText(10)}`, '', { headers: { 'Svc-Frame': 'waiting' } }),
        count: 200_000,
      }),
    };

    test.each(Object.entries(floods))('%s', async (_, flood) => {
      const senders: RuntimeId[] = [];
      const seen = await victim.expectUndisturbedBy(async () => {
        const runtime = await hostile();
        senders.push(runtime.identity.runtime);
        const { message, count } = flood(runtime);
        return await runtime.flood(message, count);
      });
      expect(seen.sent).toBeGreaterThan(0);
      for (const sender of senders) expect(linesOf(sender).length).toBeLessThan(linesMax);
      await expectAsBefore();
    });

    /** `SVC_TEST_FLOOD_SECONDS=60` runs it for a minute, twice. */
    test(
      `all of these in turn for ${floodSeconds} s: memory is afterwards what it was, and after a second time too`,
      async () => {
        const runtime = await hostile();
        const attack = async () => {
          const until = performance.now() + floodSeconds * 1000;
          while (performance.now() < until) {
            for (const flood of Object.values(floods)) {
              const { message, count } = flood(runtime);
              // Where the platform keeps it out, the attacker tries again at once.
              await runtime.flood(message, count);
            }
          }
        };
        // The victim's calls alone fill heaps, so that the platform is warm before it is attacked.
        await victim.expectUndisturbedBy(() => wait(floodSeconds * 1000));
        const before = await memoryBytes();
        for (const round of ['first', 'second']) {
          await victim.expectUndisturbedBy(attack);
          const after = await settledMemory(total(before) * 1.1);
          const grown = `${round}: ${JSON.stringify(before)} → ${JSON.stringify(after)} bytes`;
          if (floodSeconds > 4) process.stderr.write(`${grown}\n`);
          expect(total(after) / total(before), grown).toBeLessThanOrEqual(1.1);
        }
      },
      testTimeoutMs + 4 * floodSeconds * 1000 + 2 * settleMs,
    );

    test('unfinished messages in frames', async () => {
      const runtime = await hostile();
      const subject = subjects.heartbeat(runtime.identity.runtime, runtime.identity.process);
      const parts = Array.from({ length: 20_000 }, (_, index) =>
        publication(subject, '', { headers: { 'Svc-Frame': 'message+', 'Svc-Message': `m${index}` } }),
      );
      await victim.expectUndisturbedBy(async () => {
        await runtime.flood(Buffer.concat(parts), 1);
      });
      await expectAsBefore();
    });

    test('unfinished questions keep no other runtime from being answered', async () => {
      const runtime = await hostile();
      const { runtime: id, process } = runtime.identity;
      const parts = Array.from({ length: 500 }, () =>
        publication(subjects.report(id, process), 'x', {
          reply: `_R.${runtime.end}.backend.${randomText(22)}`,
          headers: { 'Svc-Frame': 'question+' },
        }),
      );
      await victim.expectUndisturbedBy(async () => {
        runtime.client.write(Buffer.concat(parts));
        // The platform may close the connection before NATS answers.
        await runtime.client.flush().catch(() => {});
        const other = await hostile();
        const { runtime: otherId, process: otherProcess } = other.identity;
        const complete = `${JSON.stringify({ complete: true, mcpServers: [] })}\n`;
        const answer = await other.ask(subjects.report(otherId, otherProcess), complete);
        expect([answer.headers, answer.payload.toString()]).toEqual([
          expect.stringContaining('final'),
          '{"refused":[]}',
        ]);
      });
    });
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
    const lines = readFileSync(join(platform.installation.logsDir, 'backend.log'), 'utf8').split('\n');
    const named = lines.filter((line) => line.includes('opened too many connections'));
    expect(named).toEqual([expect.stringContaining(runtime.identity.name)]);
    await expectAsBefore();
  });

  test('a call in as many copies as a process can have made, none of which is read', async () => {
    const sprung = await trap();
    const before = await memoryBytes();
    const entered: HostileRuntime[] = [];
    await victim.expectUndisturbedBy(async () => {
      for (let i = 0; i < 8; i++) {
        const again = await sprung.runtime.connectAgain().catch(() => null);
        if (again === null) continue;
        entered.push(again);
        const { client, end, identity } = again;
        for (let copy = 0; copy < 120; copy++) {
          client.subscribe(copy % 2 === 0 ? `_C.${end}.*.*` : subjects.call(identity.runtime, identity.process));
        }
        await client.flush().catch(() => {});
        client.socket.pause();
      }
      const { call, calling } = await sprung.spring(3_000_000);
      const grown = total(await memoryBytes()) - total(before);
      expect(grown).toBeLessThan(connectionShares.process * 128_000_000 + 100_000_000);
      sprung.runtime.reply(call.message.reply, forgedResult);
      await calling;
    });
    for (const one of entered) one.close();
    // With the first connection, which reads.
    expect(entered.length).toBeLessThan(2 * connectionShares.process);
    await expectAsBefore();
  });

  test("a process with another runtime's process id does not change that one's reports", async () => {
    const runtime = await hostile();
    const same = await runtime.connectAs(known.platform.process);
    opened.push(same);
    await victim.expectUndisturbedBy(async () => {
      const { runtime: id, process } = same.identity;
      await same.ask(subjects.report(id, process), `${JSON.stringify({ complete: true, mcpServers: [] })}\n`);
      same.close();
      await expectAsBefore();
    });
    await expectAsBefore();
  });

  /** Lines that any service has written of a runtime. */
  function linesOf(runtime: RuntimeId): readonly string[] {
    const logs = ['backend', 'remote-mcp'].map((name) => join(platform.installation.logsDir, `${name}.log`));
    return logs.flatMap((file) => readFileSync(file, 'utf8').split('\n')).filter((line) => line.includes(runtime));
  }

  /** The status of the victim's MCP server is the one from before any attack. */
  async function expectAsBefore(): Promise<void> {
    expect(await readStatus()).toEqual(asBefore);
  }

  /** By service. */
  async function memoryBytes(): Promise<Readonly<Record<string, number>>> {
    const { services }: { readonly services: readonly { readonly name: string; readonly memoryBytes: number }[] } =
      await platform.svc('status');
    return Object.fromEntries(services.map((service) => [service.name, service.memoryBytes]));
  }

  /** Waits until the memory is at most `enough`, or until garbage collection had `settleMs`. */
  async function settledMemory(enough: number): Promise<Readonly<Record<string, number>>> {
    const giveUpAt = performance.now() + settleMs;
    for (;;) {
      const bytes = await memoryBytes();
      if (total(bytes) <= enough || performance.now() > giveUpAt) return bytes;
      await wait(1000);
    }
  }

  async function readStatus() {
    const { workspace } = await backend.query(
      'query ($w: ID!, $id: ID!) { workspace(id: $w) { mcpServer(id: $id) { status health reason { code } } } }',
      { w: victims.workspace, id: victims.same.mcpServer },
      z.object({ workspace: z.object({ mcpServer: z.record(z.string(), z.unknown()) }) }).parse,
    );
    return { ...workspace.mcpServer, ...readSender(platform, victims.same.mcpServer) };
  }
});

/** Fewer than `runtimesMax`, because the workspace has runtimes of its own. */
const registeredMax = 15;
/** Of one runtime that floods the bus: its coming and going, and what it was refused for. */
const linesMax = 20;
/** Long floods are run by hand. */
const floodSeconds = Number(process.env.SVC_TEST_FLOOD_SECONDS ?? 4);
/** Garbage is collected when there is time for it: NATS does it every two minutes at the latest, and gives memory back bit by bit. */
const settleMs = 140_000;
const total = (bytes: Readonly<Record<string, number>>) => Object.values(bytes).reduce((sum, one) => sum + one, 0);
const forgedResult = '{"content":[{"type":"text","text":"forged"}]}';

/** Ids as a counter in base 36 behind a constant beginning would give them after this one. */
function idsAfter(id: string, count: number): readonly string[] {
  const [head, tail] = [id.slice(0, 6), Number.parseInt(id.slice(6), 36)];
  return Array.from({ length: count }, (_, index) => `${head}${(tail + index + 1).toString(36)}`);
}

/** Does it again and again for a while, and lets others have their turn in between. */
function repeat(forMs: number, work: () => void): { readonly ended: boolean; readonly finished: Promise<void> } {
  const state = { ended: false, finished: Promise.resolve() };
  const until = performance.now() + forMs;
  state.finished = (async () => {
    for (; performance.now() < until; await new Promise((resolve) => setTimeout(resolve, 2))) work();
    state.ended = true;
  })();
  return state;
}

/** Of the runtime process that has the MCP server Connected, as the graph has it. */
function readSender({ installation }: Platform, mcpServer: string): Sender {
  using graph = new DatabaseSync(join(installation.dir, 'data/graph.sqlite'), { readOnly: true });
  const row = graph.prepare('select runtime, process from status where mcpServer = ?').get(mcpServer);
  return { runtime: parseId('runtime', String(row?.runtime)), process: asProcess(String(row?.process)) };
}

function processOf(end: string): ProcessId {
  return asProcess(end.split('-').at(-1) ?? '');
}

function asProcess(text: string): ProcessId {
  const process = findProcessId(text);
  if (process === null) throw new Error(`"${text}" is no process`);
  return process;
}
