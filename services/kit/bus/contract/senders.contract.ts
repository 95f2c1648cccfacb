import { expect, it } from 'vitest';
import { endOf } from '../../../contracts/bus/ends.ts';
import { patterns, subjects } from '../../../contracts/bus/subjects.ts';
import type { Bus, Reply } from '../bus.ts';
import { type BusEngine, bytes, Heard, type RawRuntime, TestPlatform, text } from './test-platform.ts';

const never = { timeoutMs: 60_000 };

/** What one sender may do to the others: nothing. */
export function sendersContract(engine: BusEngine): void {
  it('are not believed when they answer what another was asked', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, victim, hostile] = [
      await platform.remoteMcp(),
      await platform.rawRuntime(),
      await platform.rawRuntime(),
    ];
    const asked = new Heard<string>();
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

  it('are not believed when they answer what a backend was asked', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, hostile] = [await platform.remoteMcp(), await platform.rawRuntime()];
    const { promise: checked, resolve: check } = Promise.withResolvers<Reply>();
    platform.backend.respond(patterns.key, () => checked);
    // A runtime learns an id of this asker from each call.
    const called = new Heard<string>();
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

  it('learn nothing from the ids of requests about those of others', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, hostile] = [await platform.remoteMcp(), await platform.rawRuntime()];
    const called = new Heard<string>();
    hostile.client.hear(callOf(hostile), ({ reply }) => called.take(reply));
    await hostile.client.reached();
    for (let i = 0; i < 200; i++) watch(asker, callOf(hostile));
    const replies = await called.atLeast(200);
    // Inside one process a request has no name that others could say.
    if (replies.every((reply) => reply === '')) return;
    const ids = replies.map(idIn);
    expect(new Set(ids).size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/);
    // 21 letters of 6 bits each: at every place 200 ids show many of the 64 letters.
    for (let place = 0; place < 21; place++) {
      expect(new Set(ids.map((id) => id[place])).size, `place ${place}`).toBeGreaterThan(32);
    }
  });
}

const callOf = ({ runtime, process }: RawRuntime) => subjects.call(runtime, process);
const endNamed = ({ runtime, process }: RawRuntime) => `${runtime}-${process}`;
const idIn = (reply = '') => reply.split('.').at(-1) || 'none';

/** The ids that follow where the end of an id is a counter to the base of 36. */
function idsAfter(id: string): readonly string[] {
  const [prefix, count] = [id.slice(0, 6), Number.parseInt(id.slice(6), 36)];
  return Array.from({ length: 20 }, (_, i) => `${prefix}${(count + i + 1).toString(36)}`);
}

/** Says every kind of frame that ends or moves a request. */
async function forge({ client }: RawRuntime, subject: string): Promise<void> {
  for (const kind of ['interim', 'accepted', 'received', 'unknown', 'error', 'final']) {
    client.say(subject, { kind, payload: bytes('forged') });
  }
  await client.reached();
}

/** A request, and what its asker has seen of it so far. */
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

/** Long enough for a frame that has reached the bus to reach its receiver. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
