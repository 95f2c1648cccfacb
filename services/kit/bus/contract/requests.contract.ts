import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { patterns, subjects } from '../../../contracts/bus/subjects.ts';
import { type ErrorCode, errorCodes, SvcError } from '../../../contracts/errors.ts';
import { newId, newProcessId } from '../../../contracts/ids.ts';
import { payloadMaxBytes, type Reply, type Request } from '../bus.ts';
import { pattern } from './messages.contract.ts';
import { type BusEngine, bytes, ReceivedItems, type Runtime, TestPlatform, text } from './test-platform.ts';

const mebibyte = 1024 * 1024;
const timeoutMs = 20_000;
/** Long enough that only the failure under test can end the request. */
const never = { timeoutMs: 60_000 };

const callOf = ({ runtime, process }: Runtime) => subjects.call(runtime, process);
const reply = (body: string | Uint8Array, headers = {}): Reply => ({
  payload: typeof body === 'string' ? bytes(body) : body,
  headers,
});

export function requestsContract(engine: BusEngine): void {
  it('get the final reply of the responder', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const seen = new ReceivedItems<Request>();
    runtime.bus.respond(callOf(runtime), async (request) => {
      seen.take(request);
      return reply(`echo ${text(request.payload)}`, { 'svc-kind': 'result' });
    });
    await platform.reached(runtime.bus);
    const got = await asker.request(callOf(runtime), bytes('hi'), { timeoutMs, headers: { 'svc-request': 'r1' } });
    expect(text(got.payload)).toBe('echo hi');
    expect(got.headers).toEqual({ 'svc-kind': 'result' });
    expect(seen.items[0]).toMatchObject({ subject: callOf(runtime), headers: { 'svc-request': 'r1' } });
  });

  it('get interim replies in order and before the final one', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    runtime.bus.respond(callOf(runtime), async (request) => {
      for (let i = 0; i < 1000; i++) await request.interim(bytes(String(i)), { at: String(i) });
      return reply('final');
    });
    await platform.reached(runtime.bus);
    const heard = new ReceivedItems<string>();
    const onInterim = (interim: Reply) => heard.take(`${text(interim.payload)}/${interim.headers.at}`);
    const final = await asker.request(callOf(runtime), bytes(''), { timeoutMs, onInterim });
    expect(heard.items).toEqual(Array.from({ length: 1000 }, (_, i) => `${i}/${i}`));
    expect(text(final.payload)).toBe('final');
  });

  it('get interim replies before the final one also from a responder that does not wait', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    runtime.bus.respond(callOf(runtime), async (request) => {
      for (let i = 0; i < 2000; i++) void request.interim(bytes(String(i)));
      return reply('final');
    });
    await platform.reached(runtime.bus);
    const heard = new ReceivedItems<string>();
    const onInterim = (interim: Reply) => heard.take(text(interim.payload));
    await asker.request(callOf(runtime), bytes(''), { timeoutMs, onInterim });
    expect(heard.items).toEqual(Array.from({ length: 2000 }, (_, i) => String(i)));
  });

  it('that are open at the same time get only their own replies', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    runtime.bus.respond(callOf(runtime), async (request) => {
      await request.interim(request.payload);
      await new Promise((resolve) => setImmediate(resolve));
      return reply(request.payload);
    });
    await platform.reached(runtime.bus);
    const answers = Array.from({ length: 500 }, async (_, i) => {
      const heard = new ReceivedItems<string>();
      const onInterim = (interim: Reply) => heard.take(text(interim.payload));
      const final = await asker.request(callOf(runtime), bytes(String(i)), { timeoutMs, onInterim });
      return [...heard.items, text(final.payload)];
    });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 500 }, (_, i) => [String(i), String(i)]));
  });

  it('and replies arrive unchanged even when the objects change afterwards', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const mutable = (body: string) => ({ payload: bytes(body), headers: { a: body } as Record<string, string> });
    const change = (message: { payload: Uint8Array; headers: Record<string, string> }) => {
      message.payload.fill(0);
      message.headers.a = 'changed';
    };
    runtime.bus.respond(callOf(runtime), async (request) => {
      const interim = mutable(`interim to ${text(request.payload)} ${request.headers.a}`);
      const sent = request.interim(interim.payload, interim.headers);
      change(interim);
      await sent;
      const final = mutable('final');
      setImmediate(() => change(final));
      return final;
    });
    await platform.reached(runtime.bus);
    const question = mutable('question');
    const heard = new ReceivedItems<Reply>();
    const asked = asker.request(callOf(runtime), question.payload, {
      timeoutMs,
      headers: question.headers,
      onInterim: heard.take,
    });
    change(question);
    const final = await asked;
    await new Promise((resolve) => setImmediate(resolve));
    expect(text(heard.items[0]?.payload ?? bytes(''))).toBe('interim to question question');
    expect(heard.items[0]?.headers.a).toBe('interim to question question');
    expect([text(final.payload), final.headers.a]).toEqual(['final', 'final']);
  });

  it.each([
    ['1 MiB less one byte', mebibyte - 1],
    ['1 MiB', mebibyte],
    ['1 MiB and one byte', mebibyte + 1],
    ['16 MiB', payloadMaxBytes],
  ])('of %s, and interim and final replies of that size, arrive whole', async (_, size) => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    runtime.bus.respond(callOf(runtime), async (request) => {
      await request.interim(request.payload);
      return reply(request.payload);
    });
    await platform.reached(runtime.bus);
    const heard = new ReceivedItems<Reply>();
    const payload = pattern(size);
    const final = await asker.request(callOf(runtime), payload, { timeoutMs, onInterim: heard.take });
    expect(Buffer.compare(final.payload, payload)).toBe(0);
    expect(Buffer.compare(heard.items[0]?.payload ?? bytes(''), payload)).toBe(0);
  });

  it('of more than 16 MiB are refused, and so are their replies', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const tooLarge = new Uint8Array(payloadMaxBytes + 1);
    const interim = new ReceivedItems<unknown>();
    runtime.bus.respond(callOf(runtime), async (request) => {
      await request.interim(tooLarge).catch(interim.take);
      return reply(tooLarge);
    });
    await platform.reached(runtime.bus);
    await expect(asker.request(callOf(runtime), tooLarge, { timeoutMs })).rejects.toMatchObject({ code: 'too_large' });
    expect(interim.items).toEqual([]);
    await expect(asker.request(callOf(runtime), bytes(''), { timeoutMs })).rejects.toMatchObject({ code: 'too_large' });
    expect(interim.items[0]).toMatchObject({ code: 'too_large' });
  });

  it('without a listener fail at once', async () => {
    await using platform = await TestPlatform.start(engine);
    const asker = await platform.remoteMcp();
    const subject = subjects.call(newId('runtime'), newProcessId());
    const began = performance.now();
    await expect(asker.request(subject, bytes(''), never)).rejects.toMatchObject({ code: 'unavailable' });
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('without a reply by their deadline fail, and the responder is notified', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const aborted = new ReceivedItems<string>();
    runtime.bus.respond(callOf(runtime), (request) => untilAborted(request, aborted));
    await platform.reached(runtime.bus);
    const began = performance.now();
    await expect(asker.request(callOf(runtime), bytes(''), { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'timeout',
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(99);
    await aborted.atLeast(1);
  });

  it('have their deadline renewed by interim replies, up to the maximum', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const aborted = new ReceivedItems<string>();
    runtime.bus.respond(callOf(runtime), async (request) => {
      const alive = setInterval(() => void request.interim(bytes('alive')), 50);
      if (text(request.payload) === 'never') return untilAborted(request, aborted).finally(() => clearInterval(alive));
      await new Promise((resolve) => setTimeout(resolve, 900));
      clearInterval(alive);
      return reply('late');
    });
    await platform.reached(runtime.bus);
    const began = performance.now();
    const limits = { timeoutMs: 400, timeoutMaxMs: 20_000 };
    expect(text((await asker.request(callOf(runtime), bytes('once'), limits)).payload)).toBe('late');
    expect(performance.now() - began).toBeGreaterThanOrEqual(899);
    const lasting = asker.request(callOf(runtime), bytes('never'), { timeoutMs: 400, timeoutMaxMs: 800 });
    await expect(lasting).rejects.toMatchObject({ code: 'timeout' });
    await aborted.atLeast(1);
  });

  it('that are cancelled end at once, and the responder is notified', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const begun = new ReceivedItems<string>();
    const aborted = new ReceivedItems<string>();
    runtime.bus.respond(callOf(runtime), (request) => {
      begun.take('begun');
      return untilAborted(request, aborted);
    });
    await platform.reached(runtime.bus);
    const controller = new AbortController();
    const asked = asker.request(callOf(runtime), bytes(''), { ...never, signal: controller.signal });
    await begun.atLeast(1);
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    await aborted.atLeast(1);
    await expect(
      asker.request(callOf(runtime), bytes(''), { ...never, signal: controller.signal }),
    ).rejects.toMatchObject({ code: 'cancelled' });
    expect(begun.items).toHaveLength(1);
  });

  it('leave no listener on their abort signal', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    runtime.bus.respond(callOf(runtime), async (request) => {
      if (text(request.payload) === 'refuse') throw new SvcError('conflict', 'Refused by a test.');
      return reply('done');
    });
    await platform.reached(runtime.bus);
    const { signal } = new AbortController();
    await asker.request(callOf(runtime), bytes('answer'), { timeoutMs, signal });
    await asker.request(callOf(runtime), bytes('refuse'), { timeoutMs, signal }).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each(errorCodes.filter((code) => code !== 'internal' && code !== 'cancelled'))(
    'get the error %s that the responder threw',
    async (code: ErrorCode) => {
      await using platform = await TestPlatform.start(engine);
      const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
      runtime.bus.respond(callOf(runtime), async () => {
        throw new SvcError(code, `Nö: ${code}.`, { hint: 'Repair it.', cause: new Error('stays inside') });
      });
      await platform.reached(runtime.bus);
      const error: unknown = await asker.request(callOf(runtime), bytes(''), { timeoutMs }).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(SvcError);
      expect(error).toMatchObject({ code, message: `Nö: ${code}.`, hint: 'Repair it.' });
      expect(error).not.toHaveProperty('cause');
    },
  );

  it('never get the text of a bug', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    runtime.bus.respond(callOf(runtime), (request) => {
      if (text(request.payload) === 'throw') throw new TypeError('secret detail');
      return Promise.reject(new TypeError('secret detail'));
    });
    await platform.reached(runtime.bus);
    for (const how of ['throw', 'reject']) {
      const error: unknown = await asker.request(callOf(runtime), bytes(how), { timeoutMs }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'internal' });
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('secret detail');
    }
  });

  it("above a responder's limit are refused, until one is finished", async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const begun = new ReceivedItems<() => void>();
    const handle = () => new Promise<Reply>((resolve) => begun.take(() => resolve(reply('done'))));
    runtime.bus.respond(callOf(runtime), handle, { concurrencyMax: 2 });
    await platform.reached(runtime.bus);
    const ask = () => asker.request(callOf(runtime), bytes(''), { timeoutMs });
    const accepted = [ask(), ask()];
    const [first, second] = await begun.atLeast(2);
    await expect(ask()).rejects.toMatchObject({ code: 'rate_limited' });
    first?.();
    second?.();
    await Promise.all(accepted);
    const next = ask();
    (await begun.atLeast(3))[2]?.();
    expect(text((await next).payload)).toBe('done');
  });

  it('are distributed among the responders of one group, each answered once', async () => {
    await using platform = await TestPlatform.start(engine);
    const other = await platform.hub.connect({ kind: 'backend' }, newProcessId());
    const asker = await platform.remoteMcp();
    const answered = [0, 0];
    for (const [i, bus] of [platform.backend, other].entries()) {
      const handle = async (request: Request) => {
        answered[i] = (answered[i] ?? 0) + 1;
        return reply(request.payload);
      };
      bus.respond('svc.identity.hello.*', handle, { queue: 'backend' });
      await platform.reached(bus);
    }
    const subject = asker.identity.kind === 'remote-mcp' ? subjects.hello(asker.identity.process) : '';
    const asked = Array.from({ length: 200 }, (_, i) => asker.request(subject, bytes(String(i)), { timeoutMs }));
    const answers = (await Promise.all(asked)).map((got) => text(got.payload));
    expect(answers).toEqual(Array.from({ length: 200 }, (_, i) => String(i)));
    expect((answered[0] ?? 0) + (answered[1] ?? 0)).toBe(200);
    expect(Math.min(...answered)).toBeGreaterThan(50);
  });

  it('in progress are answered when the responder stops, and the next one finds no listener', async () => {
    await using platform = await TestPlatform.start(engine);
    const [asker, runtime] = [await platform.remoteMcp(), await platform.runtime()];
    const begun = new ReceivedItems<() => void>();
    const responder = runtime.bus.respond(
      callOf(runtime),
      () => new Promise<Reply>((resolve) => begun.take(() => resolve(reply('done')))),
    );
    await platform.reached(runtime.bus);
    const asked = asker.request(callOf(runtime), bytes(''), { timeoutMs });
    const [finish] = await begun.atLeast(1);
    const stopped = responder.stop();
    await platform.reached(runtime.bus);
    await expect(asker.request(callOf(runtime), bytes(''), never)).rejects.toMatchObject({ code: 'unavailable' });
    finish?.();
    expect(text((await asked).payload)).toBe('done');
    await stopped;
  });

  it('find no listener after a responder to a whole pattern has stopped', async () => {
    await using platform = await TestPlatform.start(engine);
    const runtime = await platform.runtime();
    const responder = platform.backend.respond(patterns.handshake, async () => reply('done'));
    await platform.reached(platform.backend);
    const subject = subjects.handshake(runtime.runtime, runtime.process);
    await runtime.bus.request(subject, bytes(''), { timeoutMs });
    await responder.stop();
    await platform.reached(platform.backend);
    await expect(runtime.bus.request(subject, bytes(''), never)).rejects.toMatchObject({ code: 'unavailable' });
  });
}

/** Replies only once it is aborted, as a good responder does. */
export function untilAborted(request: Request, aborted: ReceivedItems<string>): Promise<Reply> {
  return new Promise((_, reject) => {
    request.signal.addEventListener('abort', {
      handleEvent: () => {
        aborted.take('aborted');
        reject(request.signal.reason);
      },
    });
  });
}
