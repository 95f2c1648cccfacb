import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { patterns, subjects } from '../../../contracts/bus/subjects.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { newId, newProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { AnswererGone, type Credentials, type Reply } from '../bus.ts';
import { untilAborted } from './requests.contract.ts';
import { type BusEngine, bytes, newFolder, ReceivedItems, TestPlatform, text } from './test-platform.ts';

const stranger: Credentials = { kind: 'runtime', key: new Secret('nobody knows me') };
const never = { timeoutMs: 60_000 };
const done: Reply = { payload: bytes('done'), headers: {} };

export function connectionsContract(engine: BusEngine): void {
  it('learn their own identity', async () => {
    await using platform = await TestPlatform.start(engine);
    const { bus, runtime, process, key } = await platform.runtime();
    expect(bus.identity).toEqual({ kind: 'runtime', process, runtime, name: 'test', workspace: null, key });
    expect((await platform.remoteMcp()).identity.kind).toBe('remote-mcp');
    expect(platform.backend.identity.kind).toBe('backend');
  });

  it('are given their process id: a client cannot choose it', async () => {
    await using platform = await TestPlatform.start(engine);
    const victim = await platform.runtime();
    const hostile = await platform.runtime(victim.runtime);
    const nonce = newProcessId();
    const first = await platform.hub.connect(victim.credentials, nonce);
    const ids = new Set([nonce, victim.process, hostile.process, first.identity.process]);
    expect(ids.size).toBe(4);
    for (const taken of ids) {
      const next = await platform.hub.connect(hostile.credentials, taken);
      expect(ids).not.toContain(next.identity.process);
    }
  });

  it('are refused while no backend is connected to check the credential', async () => {
    const folder = await newFolder();
    const hub = await engine.start(folder);
    try {
      await expect(hub.connect(stranger, newProcessId())).rejects.toMatchObject({ code: 'unavailable' });
      await hub.connect({ kind: 'backend' }, newProcessId());
      await expect(hub.connect(stranger, newProcessId())).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      await hub.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('are refused with the error of the backend', async () => {
    await using platform = await TestPlatform.start(engine);
    await expect(platform.hub.connect(stranger, newProcessId())).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('are refused without the error text of a bug in the check', async () => {
    await using platform = await TestPlatform.start(engine);
    await platform.backend.close();
    const backend = await platform.hub.connect({ kind: 'backend' }, newProcessId());
    backend.authorize(async () => {
      throw new TypeError('secret detail');
    });
    await platform.reached(backend);
    const error: unknown = await platform.hub.connect(stranger, newProcessId()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(SvcError);
    expect(String(error)).not.toContain('secret detail');
  });

  it('are checked by several backends in turn', async () => {
    await using platform = await TestPlatform.start(engine);
    const second = await platform.hub.connect({ kind: 'backend' }, newProcessId());
    let asked = 0;
    second.authorize((credentials, process) => {
      asked++;
      return platform.authorizer(credentials, process);
    });
    await platform.reached(second);
    for (let i = 0; i < 40; i++) await platform.runtime();
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThan(37);
  });

  it('are checked by another backend after one has closed', async () => {
    await using platform = await TestPlatform.start(engine);
    const second = await platform.hub.connect({ kind: 'backend' }, newProcessId());
    second.authorize(platform.authorizer);
    await platform.reached(second);
    await platform.backend.close();
    for (let i = 0; i < 4; i++) await platform.runtime();
    await second.close();
    await expect(platform.runtime()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that end fail the requests they were answering, at once', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, ended, other] = [await platform.remoteMcp(), await platform.runtime(), await platform.runtime()];
    const begun = new ReceivedItems<() => void>();
    const aborted = new ReceivedItems<string>();
    for (const { bus, runtime, process } of [ended, other]) {
      bus.respond(subjects.call(runtime, process), async (request) => {
        await request.interim(bytes(''));
        if (runtime === ended.runtime) return untilAborted(request, aborted);
        return new Promise((resolve) => begun.take(() => resolve(done)));
      });
      await platform.reached(bus);
    }
    const alive = new ReceivedItems<Reply>();
    const options = { ...never, onInterim: alive.take };
    const failing = asker.request(subjects.call(ended.runtime, ended.process), bytes(''), options);
    const untouched = asker.request(subjects.call(other.runtime, other.process), bytes(''), options);
    await alive.atLeast(2);
    const began = performance.now();
    const failed = expect(failing).rejects.toBeInstanceOf(AnswererGone);
    platform.forget(ended.credentials);
    await platform.backend.disconnect(ended.runtime);
    await failed;
    expect(performance.now() - began).toBeLessThan(5000);
    await aborted.atLeast(1);
    begun.items[0]?.();
    expect(text((await untouched).payload)).toBe('done');
  });

  it('that end fail their own requests, and the responder is notified', async () => {
    await using platform = await TestPlatform.start(engine);
    const { bus, runtime, process, credentials } = await platform.runtime();
    const begun = new ReceivedItems<string>();
    const aborted = new ReceivedItems<string>();
    platform.backend.respond(patterns.handshake, (request) => {
      begun.take('begun');
      return untilAborted(request, aborted);
    });
    await platform.reached(platform.backend);
    const asked = expect(bus.request(subjects.handshake(runtime, process), bytes(''), never)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await begun.atLeast(1);
    platform.forget(credentials);
    await platform.backend.disconnect(runtime);
    await asked;
    await aborted.atLeast(1);
  });

  it('that were opened with one key of a runtime end alone', async () => {
    await using platform = await TestPlatform.start(engine);
    const old = await platform.runtime();
    const present = await platform.runtime(old.runtime);
    const states = new ReceivedItems<string>();
    old.bus.onConnection((state) => states.take(`old ${state}`));
    present.bus.onConnection((state) => states.take(`present ${state}`));
    const gone = new ReceivedItems<Identity>();
    platform.backend.onGone(gone.take);
    await platform.reached(platform.backend);
    platform.forget(old.credentials);
    await platform.backend.disconnect(old.runtime, { key: old.key });
    expect(await gone.atLeast(1)).toEqual([old.bus.identity]);
    await platform.backend.disconnect(old.runtime, { key: present.key });
    expect((await states.atLeast(3)).slice(0, 3)).toEqual([
      'old disconnected',
      'present disconnected',
      'present connected',
    ]);
  });

  it('of a runtime with a penalty all end, whatever their process, and are refused for its duration', async () => {
    await using platform = await TestPlatform.start(engine);
    const hostile = await platform.runtime();
    const { runtime, credentials } = hostile;
    const states = new ReceivedItems<string>();
    hostile.bus.onConnection(states.take);
    await platform.reached(platform.backend);
    const next = await platform.hub.connect(credentials, newProcessId());
    const nextStates = new ReceivedItems<string>();
    next.onConnection(nextStates.take);
    await platform.backend.disconnect(runtime, { refusedMs: 1500 });
    const began = performance.now();
    expect(await states.atLeast(1)).toEqual(['disconnected']);
    expect(await nextStates.atLeast(1)).toEqual(['disconnected']);
    await expect(platform.hub.connect(credentials, newProcessId())).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringMatching(/^The runtime "test" sent more than it may; it may connect again in [12] s\.$/),
    });
    await platform.runtime();
    expect(await states.atLeast(2)).toEqual(['disconnected', 'connected']);
    expect(performance.now() - began).toBeGreaterThan(1000);
  });

  it('that were ended are refused while the backend refuses them', async () => {
    await using platform = await TestPlatform.start(engine);
    const asker = await platform.remoteMcp();
    const { bus, runtime, process, credentials } = await platform.runtime();
    const states = new ReceivedItems<string>();
    bus.onConnection(states.take);
    bus.respond(subjects.call(runtime, process), async () => done);
    platform.backend.respond(patterns.handshake, async () => done);
    await Promise.all([platform.reached(bus), platform.reached(platform.backend)]);
    platform.forget(credentials);
    await platform.backend.disconnect(runtime);
    expect(await states.atLeast(1)).toEqual(['disconnected']);
    const asked = asker.request(subjects.call(runtime, process), bytes(''), never);
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bus.request(subjects.handshake(runtime, process), bytes(''), never)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expect(platform.hub.connect(credentials, newProcessId())).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('that were ended and are accepted again work as before', async () => {
    await using platform = await TestPlatform.start(engine);
    const asker = await platform.remoteMcp();
    const { bus, runtime, process } = await platform.runtime();
    const states = new ReceivedItems<string>();
    bus.onConnection(states.take);
    bus.respond(subjects.call(runtime, process), async () => done);
    await platform.reached(bus);
    await platform.backend.disconnect(runtime);
    expect(await states.atLeast(2)).toEqual(['disconnected', 'connected']);
    await platform.reached(bus);
    expect(text((await asker.request(subjects.call(runtime, process), bytes(''), never)).payload)).toBe('done');
  });

  it('that end are reported to the backend', async () => {
    await using platform = await TestPlatform.start(engine);
    const gone = new ReceivedItems<Identity>();
    platform.backend.onGone(gone.take);
    const [ended, closed] = [await platform.runtime(), await platform.remoteMcp()];
    platform.forget(ended.credentials);
    await platform.backend.disconnect(ended.runtime);
    expect(await gone.atLeast(1)).toEqual([ended.bus.identity]);
    await closed.close();
    expect((await gone.atLeast(2))[1]).toEqual(closed.identity);
    await ended.bus.close();
    const last = await platform.remoteMcp();
    await last.close();
    expect((await gone.atLeast(3)).slice(2)).toEqual([last.identity]);
  });

  it('that close finish their open requests and replies first', async () => {
    await using platform = await TestPlatform.start(engine);
    const asker = await platform.remoteMcp();
    const { bus, runtime, process } = await platform.runtime();
    const begun = new ReceivedItems<() => void>();
    const handle = () => new Promise<Reply>((resolve) => begun.take(() => resolve(done)));
    bus.respond(subjects.call(runtime, process), handle);
    platform.backend.respond(patterns.handshake, handle);
    await Promise.all([platform.reached(bus), platform.reached(platform.backend)]);
    const asked = [
      asker.request(subjects.call(runtime, process), bytes(''), never),
      bus.request(subjects.handshake(runtime, process), bytes(''), never),
    ];
    const finish = [...(await begun.atLeast(2))];
    const closed = bus.close();
    // One after the other, so that neither finishes only because the other is awaited.
    finish[0]?.();
    expect(text((await Promise.race(asked)).payload)).toBe('done');
    await new Promise((resolve) => setTimeout(resolve, 50));
    finish[1]?.();
    for (const one of await Promise.all(asked)) expect(text(one.payload)).toBe('done');
    await closed;
    const unavailable = expect.objectContaining({ code: 'unavailable' });
    expect(() => bus.publish(subjects.heartbeat(runtime, process), bytes(''))).toThrow(unavailable);
    expect(() => bus.respond(subjects.call(runtime, process), handle)).toThrow(unavailable);
    await expect(bus.request(subjects.handshake(runtime, process), bytes(''), never)).rejects.toEqual(unavailable);
    await expect(asker.request(subjects.call(runtime, process), bytes(''), never)).rejects.toEqual(unavailable);
  });

  it('may be closed twice: both calls wait until it is closed', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const begun = new ReceivedItems<string>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let finished = false;
    bus.subscribe(patterns.events, async () => {
      begun.take('begun');
      await released;
      finished = true;
    });
    await platform.reached(bus);
    platform.backend.publish(subjects.event(newId('workspace'), 'key'), bytes(''));
    await begun.atLeast(1);
    const closed = [bus.close(), bus.close()].map((one) => one.then(() => finished));
    release();
    expect(await Promise.all(closed)).toEqual([true, true]);
    await bus.close();
  });

  it('learn of their end even when another listener fails', async () => {
    await using platform = await TestPlatform.start(engine);
    const [first, second] = [await platform.runtime(), await platform.remoteMcp()];
    const states = new ReceivedItems<string>();
    for (const bus of [first.bus, second]) {
      bus.onConnection(() => {
        throw new TypeError('thrown by a test');
      });
      bus.onConnection(states.take);
    }
    await platform.hub.stop();
    expect(await states.atLeast(2)).toEqual(['disconnected', 'disconnected']);
  });

  it('learn that the bus stopped, and their open requests fail', async () => {
    await using platform = await TestPlatform.start(engine);
    const asker = await platform.remoteMcp();
    const { bus, runtime, process } = await platform.runtime();
    const [states, begun] = [new ReceivedItems<string>(), new ReceivedItems<string>()];
    asker.onConnection(states.take);
    bus.respond(subjects.call(runtime, process), () => {
      begun.take('begun');
      return new Promise(() => undefined);
    });
    await platform.reached(bus);
    const asked = expect(
      asker.request(subjects.call(runtime, process), bytes(''), { timeoutMs: 10_000 }),
    ).rejects.toMatchObject({ code: 'unavailable' });
    await begun.atLeast(1);
    await platform.hub.stop();
    await asked;
    expect(await states.atLeast(1)).toEqual(['disconnected']);
    await expect(platform.hub.connect({ kind: 'backend' }, newProcessId())).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('of one runtime end together, and those of other runtimes stay', async () => {
    await using platform = await TestPlatform.start(engine);
    const first = await platform.runtime(newId('runtime'));
    const [second, other] = [await platform.runtime(first.runtime), await platform.runtime()];
    const ended = new ReceivedItems<string>();
    const untouched = new ReceivedItems<string>();
    first.bus.onConnection(() => ended.take('first'));
    second.bus.onConnection(() => ended.take('second'));
    other.bus.onConnection(untouched.take);
    platform.forget(first.credentials);
    platform.forget(second.credentials);
    await platform.backend.disconnect(first.runtime);
    expect([...(await ended.atLeast(2))].sort()).toEqual(['first', 'second']);
    expect(untouched.items).toEqual([]);
  });
}
