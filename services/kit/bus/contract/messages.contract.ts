import { expect, it } from 'vitest';
import { matches, patterns, subjects } from '../../../contracts/bus/subjects.ts';
import { newId, newSessionId } from '../../../contracts/ids.ts';
import { headersMaxLength, type Message, payloadMaxBytes } from '../bus.ts';
import { type BusEngine, bytes, ReceivedItems, TestPlatform, text } from './test-platform.ts';

const mebibyte = 1024 * 1024;

export function messagesContract(engine: BusEngine): void {
  it('arrive with their subject, payload and headers', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<Message>();
    bus.subscribe(patterns.events, heard.take);
    await platform.reached(bus);
    const subject = subjects.event(newId('workspace'), 'key');
    platform.backend.publish(subject, bytes('one'), { 'svc-request': 'ä b:c', other: '' });
    platform.backend.publish(subject, new Uint8Array(0));
    const [first, second] = await heard.atLeast(2);
    expect(first).toMatchObject({ subject, headers: { 'svc-request': 'ä b:c', other: '' } });
    expect(text(first?.payload ?? bytes('nothing'))).toBe('one');
    expect(second?.payload.byteLength).toBe(0);
  });

  it('reach every listener whose pattern covers the subject, and no other', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const [workspace, other] = [newId('workspace'), newId('workspace')];
    const rest = new ReceivedItems<string>();
    const token = new ReceivedItems<string>();
    const exact = new ReceivedItems<string>();
    bus.subscribe('svc.event.>', (message) => rest.take(message.subject));
    bus.subscribe(patterns.eventsOf(workspace), (message) => token.take(message.subject));
    bus.subscribe(subjects.event(workspace, 'key'), (message) => exact.take(message.subject));
    await platform.reached(bus);
    const all = [
      subjects.event(other, 'key'),
      subjects.event(workspace, 'status'),
      subjects.event(workspace, 'key'),
      `svc.event.${workspace}.key.more`,
      subjects.event(workspace, 'key'),
    ];
    for (const subject of all) platform.backend.publish(subject, bytes(''));
    expect(await rest.atLeast(5)).toEqual(all);
    expect(await exact.atLeast(2)).toEqual([all[2], all[4]]);
    expect(await token.atLeast(3)).toEqual([all[1], all[2], all[4]]);
  });

  it('are received once a pattern is added to subjects in use, and no longer once it is removed', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const subject = subjects.event(newId('workspace'), 'key');
    const always = new ReceivedItems<string>();
    bus.subscribe(patterns.events, (message) => always.take(text(message.payload)));
    await platform.reached(bus);
    platform.backend.publish(subject, bytes('first'));
    await always.atLeast(1);
    for (const pattern of [subject, 'svc.event.>', patterns.eventsOf(newId('workspace')), subject]) {
      const added = new ReceivedItems<string>();
      const subscription = bus.subscribe(pattern, (message) => added.take(text(message.payload)));
      await platform.reached(bus);
      platform.backend.publish(subject, bytes('while added'));
      await always.atLeast(always.items.length + 1);
      if (matches(pattern, subject)) await added.atLeast(1);
      await subscription.stop();
      await platform.reached(bus);
      platform.backend.publish(subject, bytes('removed'));
      await always.atLeast(always.items.length + 1);
      expect(added.items).toEqual(matches(pattern, subject) ? ['while added'] : []);
    }
  });

  it('reach every subscriber', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const everyone = [new ReceivedItems<string>(), new ReceivedItems<string>()];
    for (const one of everyone) bus.subscribe(patterns.events, (message) => one.take(text(message.payload)));
    await platform.reached(bus);
    const sent = Array.from({ length: 400 }, (_, i) => String(i));
    const subject = subjects.event(newId('workspace'), 'status');
    for (const one of sent) platform.backend.publish(subject, bytes(one));
    for (const one of everyone) expect(await one.atLeast(400)).toEqual(sent);
  });

  it('arrive unchanged even when the sender changes its objects afterwards', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<Message>();
    bus.subscribe(patterns.events, heard.take);
    await platform.reached(bus);
    const payload = bytes('as sent');
    const headers: Record<string, string> = { 'svc-request': 'as sent' };
    platform.backend.publish(subjects.event(newId('workspace'), 'key'), payload, headers);
    payload.fill(0);
    headers['svc-request'] = 'changed';
    headers.added = 'later';
    const [message] = await heard.atLeast(1);
    expect(text(message?.payload ?? payload)).toBe('as sent');
    expect(message?.headers).toEqual({ 'svc-request': 'as sent' });
  });

  it('belong to their receiver: other receivers do not see changes to a message', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<string>();
    for (let i = 0; i < 3; i++) {
      bus.subscribe(patterns.events, (message) => {
        heard.take(`${text(message.payload)} ${JSON.stringify(message.headers)}`);
        message.payload.fill(0);
        Object.assign(message.headers, { a: 'changed' });
      });
    }
    await platform.reached(bus);
    platform.backend.publish(subjects.event(newId('workspace'), 'key'), bytes('own'), { a: 'b' });
    expect(await heard.atLeast(3)).toEqual(Array.from({ length: 3 }, () => 'own {"a":"b"}'));
  });

  it('are not handled inside the call that sends them', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<string>();
    bus.subscribe(patterns.events, () => heard.take('handled'));
    await platform.reached(bus);
    platform.backend.publish(subjects.event(newId('workspace'), 'key'), bytes(''));
    heard.take('sent');
    expect(await heard.atLeast(2)).toEqual(['sent', 'handled']);
  });

  it('are handled one after the other, in the order they were sent', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<string>();
    bus.subscribe(patterns.events, async (message) => {
      heard.take(`begin ${text(message.payload)}`);
      await new Promise((resolve) => setImmediate(resolve));
      heard.take(`end ${text(message.payload)}`);
    });
    await platform.reached(bus);
    const subject = subjects.event(newId('workspace'), 'key');
    for (let i = 0; i < 50; i++) platform.backend.publish(subject, bytes(String(i)));
    const expected = Array.from({ length: 50 }, (_, i) => [`begin ${i}`, `end ${i}`]).flat();
    expect(await heard.atLeast(100)).toEqual(expected);
  });

  it('are still received after a handler threw or rejected', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<string>();
    bus.subscribe(patterns.events, (message) => {
      heard.take(text(message.payload));
      if (text(message.payload) === 'throw') throw new TypeError('thrown by a test');
      if (text(message.payload) === 'reject') return Promise.reject(new TypeError('rejected by a test'));
      return undefined;
    });
    await platform.reached(bus);
    for (const one of ['throw', 'reject', 'last']) {
      platform.backend.publish(subjects.event(newId('workspace'), 'key'), bytes(one));
    }
    expect(await heard.atLeast(3)).toEqual(['throw', 'reject', 'last']);
  });

  it('that a slow consumer leaves waiting are bounded: the oldest are dropped', async () => {
    await using platform = await TestPlatform.start(engine);
    const slow = await platform.remoteMcp();
    const quick = new ReceivedItems<string>();
    const heard = new ReceivedItems<string>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const handle = async (message: Message) => {
      heard.take(text(message.payload));
      await released;
    };
    slow.subscribe(patterns.events, handle, { pendingMax: 10 });
    slow.subscribe(patterns.events, (message) => quick.take(text(message.payload)));
    await platform.reached(slow);
    const subject = subjects.event(newId('workspace'), 'key');
    platform.backend.publish(subject, bytes('first'));
    await heard.atLeast(1);
    for (let i = 0; i < 100; i++) platform.backend.publish(subject, bytes(String(i)));
    await quick.atLeast(101);
    release();
    const newest = Array.from({ length: 10 }, (_, i) => String(90 + i));
    expect(await heard.atLeast(11)).toEqual(['first', ...newest]);
  });

  it('end with their subscription, which waits for the running handler', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const begun = new ReceivedItems<string>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let finished = false;
    const subscription = bus.subscribe(patterns.events, async (message) => {
      begun.take(text(message.payload));
      await released;
      finished = true;
    });
    await platform.reached(bus);
    const subject = subjects.event(newId('workspace'), 'key');
    platform.backend.publish(subject, bytes('handled'));
    platform.backend.publish(subject, bytes('waiting'));
    await begun.atLeast(1);
    const stopped = subscription.stop().then(() => finished);
    release();
    expect(await stopped).toBe(true);
    expect(begun.items).toEqual(['handled']);
  });

  it.each([
    ['1 MiB less one byte', mebibyte - 1],
    ['1 MiB', mebibyte],
    ['1 MiB and one byte', mebibyte + 1],
    ['16 MiB', payloadMaxBytes],
  ])('of %s arrive whole', async (_, size) => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<Message>();
    const session = subjects.session(newSessionId());
    bus.subscribe(session, heard.take);
    await platform.reached(bus);
    const payload = pattern(size);
    platform.backend.publish(session, payload);
    const [message] = await heard.atLeast(1);
    expect(Buffer.compare(message?.payload ?? bytes(''), payload)).toBe(0);
  });

  it('of more than 16 MiB are refused', async () => {
    await using platform = await TestPlatform.start(engine);
    const send = () => platform.backend.publish(subjects.session(newSessionId()), new Uint8Array(payloadMaxBytes + 1));
    expect(send).toThrow(expect.objectContaining({ code: 'too_large' }));
  });

  it.each(['', 'svc.event.*.key', 'svc.event.>', 'svc..event', '.svc', 'svc.', 'svc.event.a b', 'svc.event.\n'])(
    'to %j are refused, because it is not a subject',
    async (subject) => {
      await using platform = await TestPlatform.start(engine);
      expect(() => platform.backend.publish(subject, bytes(''))).toThrow(
        expect.objectContaining({ code: 'invalid_input' }),
      );
    },
  );

  it.each(['line\nbreak', 'return\r'])('with a header of %j are refused', async (value) => {
    await using platform = await TestPlatform.start(engine);
    const subject = subjects.session(newSessionId());
    expect(() => platform.backend.publish(subject, bytes(''), { a: value })).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  it('with headers up to their limit arrive, and above it are refused', async () => {
    await using platform = await TestPlatform.start(engine);
    const bus = await platform.remoteMcp();
    const heard = new ReceivedItems<Message>();
    const session = subjects.session(newSessionId());
    bus.subscribe(session, heard.take);
    await platform.reached(bus);
    const value = 'v'.repeat(headersMaxLength - 1);
    platform.backend.publish(session, bytes(''), { n: value });
    expect((await heard.atLeast(1))[0]?.headers.n).toBe(value);
    expect(() => platform.backend.publish(session, bytes(''), { n: `${value}v` })).toThrow(
      expect.objectContaining({ code: 'too_large' }),
    );
  });
}

/** Bytes that show the place if a payload is cut or mixed up. */
export function pattern(size: number): Uint8Array {
  const payload = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; at++) payload[at] = (at >> 10) ^ at;
  return payload;
}
