import { fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endOf } from '../../../contracts/bus/ends.ts';
import { patterns, subjects } from '../../../contracts/bus/subjects.ts';
import type { Bus } from '../bus.ts';
import { bytes, type IssuedKey, newFolder, type Runtime, TestPlatform } from '../contract/test-platform.ts';
import type { Flood, Flooder } from './test/flood.ts';
import { hubOn, reached } from './test/hub.ts';
import { findNatsServer, TestServer } from './test/server.ts';

/** A busy machine delays a call by itself; a shorter delay is not noticeable. */
const unnoticedMs = 100;
const timeoutMs = 60_000;

interface Targets {
  readonly own: string;
  readonly runtime: IssuedKey['runtime'];
  readonly process: Runtime['process'];
  readonly remoteMcp: string;
  readonly otherRuntime: string;
  readonly backend: string;
}

interface Attack {
  readonly name: string;
  readonly send: (targets: Targets) => Partial<Flood> & Pick<Flood, 'subject' | 'count'>;
  /** The frames reach no listener. */
  readonly reachesNobody?: true;
}

const attacks: readonly Attack[] = [
  {
    name: 'replies to a backend',
    send: ({ own, backend }) => ({ subject: `_R.${backend}.${own}.#`, kind: 'interim', count: 100_000 }),
    reachesNobody: true,
  },
  {
    name: 'replies to another runtime',
    send: ({ own, otherRuntime }) => ({ subject: `_R.${otherRuntime}.${own}.#`, kind: 'interim', count: 100_000 }),
    reachesNobody: true,
  },
  {
    name: 'messages that are begun with an empty frame',
    send: ({ runtime, process }) => ({
      ...{ subject: subjects.heartbeat(runtime, process), kind: 'message+', hasId: true, count: 60_000 },
    }),
  },
  {
    name: 'heartbeats',
    send: ({ runtime, process }) => ({
      subject: subjects.heartbeat(runtime, process),
      payloadBytes: 200,
      count: 100_000,
    }),
  },
  {
    name: 'heartbeats of the largest size',
    send: ({ runtime, process }) => ({
      subject: subjects.heartbeat(runtime, process),
      payloadBytes: 1_000_000,
      count: 1000,
    }),
  },
  {
    name: 'heartbeats with large headers',
    send: ({ runtime, process }) => ({
      ...{ subject: subjects.heartbeat(runtime, process), kind: 'message', headerBytes: 900_000, count: 1000 },
    }),
  },
  {
    name: 'replies to remote-mcp that it did not ask for',
    send: ({ own, remoteMcp }) => ({ subject: `_R.${remoteMcp}.${own}.#`, kind: 'interim', count: 200_000 }),
  },
  {
    name: 'further frames of questions that were not asked',
    send: ({ own }) => ({ subject: `_C.backend.${own}.#`, kind: 'question+', payloadBytes: 100, count: 100_000 }),
  },
  {
    name: 'further frames of the largest size',
    send: ({ own }) => ({ subject: `_C.backend.${own}.#`, kind: 'question+', payloadBytes: 500_000, count: 2000 }),
  },
  {
    name: 'handshakes that are never finished',
    send: ({ own, runtime, process }) => ({
      ...{
        subject: subjects.handshake(runtime, process),
        reply: `_R.${own}.backend.#`,
        kind: 'question+',
        count: 50_000,
      },
    }),
  },
  {
    name: 'handshakes',
    send: ({ own, runtime, process }) => ({
      ...{
        subject: subjects.handshake(runtime, process),
        reply: `_R.${own}.backend.#`,
        kind: 'question',
        count: 50_000,
      },
    }),
  },
  {
    name: 'reports of the largest frame that are never finished',
    send: ({ own, runtime, process }) => ({
      ...{ subject: subjects.report(runtime, process), reply: `_R.${own}.backend.#`, kind: 'question+' },
      ...{ payloadBytes: 500_000, count: 2000 },
    }),
  },
];

describe.skipIf(findNatsServer() === null)('a runtime that floods the bus is ended, and others do not notice', () => {
  const lines: string[] = [];
  let platform: TestPlatform;
  let url = '';
  let asker: Bus;
  let other: Runtime;
  let idle: readonly number[];
  /** How the floods ended that reach nobody. Their senders stay connected while the next ones flood. */
  const lasting: Promise<string>[] = [];

  beforeAll(async () => {
    const engine = {
      name: 'NATS',
      async start(folder: string) {
        const server = await TestServer.start(folder);
        url = server.url;
        return hubOn(server, (line) => lines.push(line));
      },
      reached,
      crash: () => Promise.reject(new Error('not here')),
    };
    platform = await TestPlatform.start(engine, { folder: await newFolder() });
    [asker, other] = [await platform.remoteMcp(), await platform.runtime()];
    const answer = async () => ({ payload: bytes('done'), headers: {} });
    other.bus.respond(subjects.call(other.runtime, other.process), answer);
    platform.backend.respond(patterns.handshake, answer, { concurrencyMax: 64 });
    platform.backend.respond(patterns.report, answer, { concurrencyMax: 64 });
    for (const bus of [platform.backend, asker]) bus.subscribe(patterns.heartbeat, () => undefined);
    await Promise.all([reached(other.bus), reached(platform.backend), reached(asker)]);
    await latencies(500);
    idle = await latencies(1000);
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
  });

  it.each(attacks)(
    '$name',
    async ({ send, reachesNobody = false }) => {
      const hostile = platform.issueKey();
      const { child, connected, end } = start({ url, key: hostile.secret });
      await connected;
      const process = await hostile.admitted;
      const flood: Flood = {
        ...{ kind: null, payloadBytes: 0, hasId: false, headerBytes: 0 },
        ...send({
          ...{ own: `${hostile.runtime}-${process}`, runtime: hostile.runtime, process },
          ...{ remoteMcp: endOf(asker.identity), otherRuntime: endOf(other.bus.identity) },
          backend: endOf(platform.backend.identity),
        }),
      };
      child.send(flood);
      const flooded = await latencies(2000);
      if (reachesNobody) lasting.push(end);
      else expect(await end).toBe('ended');
      expect(atShare(flooded, 0.99)).toBeLessThan(Math.max(5 * atShare(idle, 0.99), unnoticedMs));
      const named = lines.filter((line) => line.includes(process) && line.includes('sent more than it may'));
      expect(named.length).toBeLessThanOrEqual(4);
      expect(named.length > 0).toBe(!reachesNobody);
    },
    40_000,
  );

  it('a flood that reaches nobody leaves its sender connected', async () => {
    expect(await Promise.all(lasting)).toEqual(['stayed', 'stayed']);
  });

  /** Latencies of the others' requests: calls to a runtime, and handshakes. */
  async function latencies(forMs: number): Promise<readonly number[]> {
    const times: number[] = [];
    const until = performance.now() + forMs;
    const callSubject = subjects.call(other.runtime, other.process);
    const handshakeSubject = subjects.handshake(other.runtime, other.process);
    for (let i = 0; performance.now() < until; i++) {
      const began = performance.now();
      await asker.request(callSubject, bytes('?'), { timeoutMs });
      times.push(performance.now() - began);
      // An honest runtime shakes hands a few times a second.
      if (i % 50 === 0) await other.bus.request(handshakeSubject, bytes('?'), { timeoutMs });
      await wait(4);
    }
    return times;
  }
});

function atShare(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, next) => one - next);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

/** Connects in another process, so that the cost of a flood there is not measured here. */
function start(flooder: Flooder) {
  const child = fork(new URL('./test/flood.ts', import.meta.url), [JSON.stringify(flooder)], { stdio: 'inherit' });
  const { promise: connected, resolve: connect, reject } = Promise.withResolvers<void>();
  const end = new Promise<string>((resolve) => {
    child.on('message', (said) => {
      if (said === 'connected') connect();
      else if (said === 'ended' || said === 'stayed') resolve(said);
    });
    child.on('exit', (code) => {
      resolve(`exited ${code}`);
      reject(new Error(`the flood ended with ${code}`));
    });
  });
  return { child, connected, end };
}
