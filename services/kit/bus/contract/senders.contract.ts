import { expect, it, vi } from 'vitest';
import { endOf } from '../../../contracts/bus/ends.ts';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { patterns, subjects } from '../../../contracts/bus/subjects.ts';
import type { ProcessId, RuntimeId } from '../../../contracts/ids.ts';
import type { Bus, Reply } from '../bus.ts';
import { allowanceMax, costs, questionsAtOnceMax, runtimeMessageMaxBytes } from '../senders.ts';
import { type BusEngine, bytes, type RawRuntime, ReceivedItems, TestPlatform, text } from './test-platform.ts';

const never = { timeoutMs: 60_000 };

/** One sender cannot affect the others. */
export function sendersContract(engine: BusEngine): void {
  it('cannot answer a request that was sent to another responder', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, victim, hostile] = [
      await platform.remoteMcp(),
      await platform.rawRuntime(),
      await platform.rawRuntime(),
    ];
    const asked = new ReceivedItems<string>();
    victim.client.hear(callOf(victim), ({ reply }) => asked.take(reply));
    await victim.client.reached();
    const request = watch(asker, callOf(victim));
    // The worst case: the hostile runtime knows the id.
    const id = idIn((await asked.atLeast(1))[0]);
    await forge(hostile, `_R.${endOf(asker.identity)}.${endNamed(hostile)}.${id}`);
    await platform.reached(asker);
    await settled();
    expect(request).toMatchObject({ outcome: 'waits', interims: [] });
  });

  it('cannot answer a request that was sent to a backend', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, hostile] = [await platform.remoteMcp(), await platform.rawRuntime()];
    const { promise: checked, resolve: check } = Promise.withResolvers<Reply>();
    platform.backend.respond(patterns.key, () => checked);
    // A runtime learns an id of this caller from each call.
    const called = new ReceivedItems<string>();
    hostile.client.hear(callOf(hostile), ({ reply }) => called.take(reply));
    await Promise.all([platform.reached(platform.backend), hostile.client.reached()]);
    watch(asker, callOf(hostile));
    const learnt = (await called.atLeast(1))[0] ?? '';
    const request = watch(asker, subjects.key(asker.identity.process));
    await platform.reached(asker);
    for (const id of [idIn(learnt), ...idsAfter(idIn(learnt))]) {
      await forge(hostile, `_R.${endOf(asker.identity)}.${endNamed(hostile)}.${id}`);
    }
    await settled();
    expect(request).toMatchObject({ outcome: 'waits', interims: [] });
    check({ payload: bytes('from the backend'), headers: {} });
    await request.ended;
    expect(request.outcome).toBe('from the backend');
  });

  it("learn nothing about the ids of other senders' requests", async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, hostile] = [await platform.remoteMcp(), await platform.rawRuntime()];
    const called = new ReceivedItems<string>();
    hostile.client.hear(callOf(hostile), ({ reply }) => called.take(reply));
    await hostile.client.reached();
    for (let i = 0; i < 200; i++) watch(asker, callOf(hostile));
    const replies = await called.atLeast(200);
    // Inside one process a request has no name that another client could use.
    if (replies.every((reply) => reply === '')) return;
    const ids = replies.map(idIn);
    expect(new Set(ids).size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/);
    // 21 letters of 6 bits each: at every position, 200 ids show many of the 64 letters.
    for (let place = 0; place < 21; place++) {
      expect(new Set(ids.map((id) => id[place])).size, `place ${place}`).toBeGreaterThan(32);
    }
  });

  it('have a limited share of open questions, and others are answered', async () => {
    await using platform = await TestPlatform.start(engine);
    const [hostile, other] = [await platform.rawRuntime(), await platform.runtime()];
    const begun = new ReceivedItems<string>();
    platform.backend.respond(patterns.handshake, async ({ subject }) => {
      begun.take(subject);
      if (subject === handshakeOf(hostile)) await new Promise(() => undefined);
      return { payload: bytes('done'), headers: {} };
    });
    await platform.reached(platform.backend);
    for (let i = 0; i < 20; i++) ask(hostile, 'question', i);
    await hostile.client.reached();
    const { payload } = await other.bus.request(handshakeOf(other), bytes(''), never);
    expect(text(payload)).toBe('done');
    expect(begun.items.filter((subject) => subject === handshakeOf(hostile)).length).toBe(questionsAtOnceMax);
  });

  it('have one share of questions for all connections of a runtime', async () => {
    await using platform = await TestPlatform.start(engine);
    const first = await platform.runtime();
    const more = await Promise.all(Array.from({ length: 15 }, () => platform.runtime(first.runtime)));
    const other = await platform.runtime();
    let begun = 0;
    const handle = async ({ subject }: { readonly subject: string }) => {
      if (subject !== handshakeOf(other)) {
        begun++;
        await new Promise(() => undefined);
      }
      return { payload: bytes('done'), headers: {} };
    };
    platform.backend.respond(patterns.handshake, handle, { concurrencyMax: 64 });
    await platform.reached(platform.backend);
    for (const one of [first, ...more]) {
      for (let i = 0; i < 4; i++) one.bus.request(handshakeOf(one), bytes(''), never).catch(() => undefined);
      await platform.reached(one.bus);
    }
    const { payload } = await other.bus.request(handshakeOf(other), bytes(''), never);
    expect(text(payload)).toBe('done');
    expect(begun).toBe(questionsAtOnceMax);
  });

  it('that leave their questions unfinished take no place from others', async () => {
    await using platform = await TestPlatform.start(engine);
    const hostiles = await Promise.all(Array.from({ length: 20 }, () => platform.rawRuntime()));
    const other = await platform.runtime();
    const answer = async () => ({ payload: bytes('done'), headers: {} });
    platform.backend.respond(patterns.handshake, answer, { concurrencyMax: 16 });
    await platform.reached(platform.backend);
    for (const hostile of hostiles) {
      for (let i = 0; i < 8; i++) ask(hostile, 'question+', i);
      await hostile.client.reached();
    }
    const { payload } = await other.bus.request(handshakeOf(other), bytes(''), never);
    expect(text(payload)).toBe('done');
  });

  it('that exceed their allowance are ended by name, and others are not', async () => {
    await using platform = await TestPlatform.start(engine);
    const [hostile, other] = [await platform.rawRuntime(), await platform.runtime()];
    const states = new ReceivedItems<string>();
    other.bus.onConnection(states.take);
    const heard = new ReceivedItems<string>();
    platform.backend.subscribe(patterns.heartbeat, ({ subject }) => heard.take(subject));
    const gone = new ReceivedItems<Identity>();
    platform.backend.onGone(gone.take);
    await platform.reached(platform.backend);
    for (let i = 0; i < 3000; i++) hostile.client.say(heartbeatOf(hostile), { kind: null, payload: bytes('{}') });
    await hostile.client.ended;
    expect(await gone.atLeast(1)).toMatchObject([{ runtime: hostile.runtime, process: hostile.process }]);
    other.bus.publish(heartbeatOf(other), bytes('{}'));
    await vi.waitFor(() => expect(heard.items).toContain(heartbeatOf(other)), { timeout: 5000 });
    const mayAtOnce = allowanceMax / costs.message.tokens;
    const count = heard.items.filter((subject) => subject === heartbeatOf(hostile)).length;
    expect(count).toBeGreaterThanOrEqual(mayAtOnce);
    expect(count).toBeLessThan(mayAtOnce * 1.5);
    expect(states.items).toEqual([]);
    await expect(platform.hub.connect(hostile.credentials, hostile.nonce)).rejects.toMatchObject({
      code: 'rate_limited',
    });
  });

  it('cannot send anything that another sender is blamed for', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, hostile, victim] = [
      await platform.remoteMcp(),
      await platform.rawRuntime(),
      await platform.runtime(),
    ];
    const states = new ReceivedItems<string>();
    victim.bus.onConnection(states.take);
    const heard = new ReceivedItems<string>();
    platform.backend.subscribe(patterns.heartbeat, ({ subject }) => heard.take(subject));
    victim.bus.respond(callOf(victim), async () => ({ payload: bytes('done'), headers: {} }));
    await Promise.all([platform.reached(platform.backend), platform.reached(victim.bus)]);
    const payload = bytes('{}');
    for (let i = 0; i < 3000; i++) {
      hostile.client.say(heartbeatOf(victim), { kind: null, payload });
      hostile.client.say(`_R.${endOf(asker.identity)}.${endOf(victim.bus.identity)}.1`, { kind: 'final', payload });
      hostile.client.say(`_C.backend.${endOf(victim.bus.identity)}.1`, { kind: 'cancel', payload });
    }
    await hostile.client.reached();
    await settled();
    expect(text((await asker.request(callOf(victim), bytes(''), never)).payload)).toBe('done');
    expect([states.items, heard.items]).toEqual([[], []]);
  });

  it('are not blamed for replies that cross with a cancel', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const states = new ReceivedItems<string>();
    runtime.bus.onConnection(states.take);
    runtime.bus.respond(callOf(runtime), async (request) => {
      while (!request.signal.aborted) {
        await request.interim(bytes('progress'));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { payload: bytes('late'), headers: {} };
    });
    await platform.reached(runtime.bus);
    for (let round = 0; round < 10; round++) {
      const cancelled = Array.from({ length: 50 }, async () => {
        const controller = new AbortController();
        const options = { ...never, signal: controller.signal, onInterim: () => controller.abort() };
        await asker.request(callOf(runtime), bytes(''), options).catch(() => undefined);
      });
      await Promise.all(cancelled);
    }
    await settled();
    expect(states.items).toEqual([]);
  });

  it('that are runtimes publish only short messages', async () => {
    await using platform = await TestPlatform.start(engine);
    const runtime = await platform.runtime();
    const say = (size: number) => runtime.bus.publish(heartbeatOf(runtime), new Uint8Array(size));
    expect(() => say(runtimeMessageMaxBytes)).not.toThrow();
    expect(() => say(runtimeMessageMaxBytes + 1)).toThrow(expect.objectContaining({ code: 'too_large' }));
  });
}

interface Process {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
}

const callOf = ({ runtime, process }: Process) => subjects.call(runtime, process);
const handshakeOf = ({ runtime, process }: Process) => subjects.handshake(runtime, process);
const heartbeatOf = ({ runtime, process }: Process) => subjects.heartbeat(runtime, process);
const endNamed = ({ runtime, process }: Process) => `${runtime}-${process}`;
const idIn = (reply = '') => reply.split('.').at(-1) || 'none';

/** The ids that would follow if the end of an id were a counter in base 36. */
function idsAfter(id: string): readonly string[] {
  const [prefix, count] = [id.slice(0, 6), Number.parseInt(id.slice(6), 36)];
  return Array.from({ length: 20 }, (_, i) => `${prefix}${(count + i + 1).toString(36)}`);
}

function ask(hostile: RawRuntime, kind: 'question' | 'question+', id: number): void {
  hostile.client.say(handshakeOf(hostile), { kind, reply: `_R.${endNamed(hostile)}.backend.${id}` });
}

/** Sends every kind of frame that ends or continues a request. */
async function forge({ client }: RawRuntime, subject: string): Promise<void> {
  for (const kind of ['interim', 'accepted', 'received', 'unknown', 'error', 'final']) {
    client.say(subject, { kind, payload: bytes('forged') });
  }
  await client.reached();
}

/** A request, and what its caller has received so far. */
function watch(asker: Bus, subject: string) {
  const watched = { outcome: 'waits', interims: [] as string[], ended: Promise.resolve() };
  const end = (outcome: string) => {
    watched.outcome = outcome;
  };
  const onInterim = ({ payload }: Reply) => void watched.interims.push(text(payload));
  watched.ended = asker.request(subject, bytes('?'), { ...never, onInterim }).then(
    ({ payload }) => end(text(payload)),
    (error: unknown) => end(String(error)),
  );
  return watched;
}

/** Long enough for a frame to pass through the bus to its receiver. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
