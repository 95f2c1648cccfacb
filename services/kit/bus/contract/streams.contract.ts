import { expect, it } from 'vitest';
import { streams } from '../../../contracts/bus/subjects.ts';
import { newProcessId } from '../../../contracts/ids.ts';
import { frameMaxBytes, type Stream } from '../bus.ts';
import { type BusEngine, bytes, newFolder, ReceivedItems, TestPlatform, text } from './test-platform.ts';

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i));

export function streamsContract(engine: BusEngine): void {
  it('deliver every record, in the order they were appended', async () => {
    await using platform = await TestPlatform.start(engine);
    const { appending, consuming } = await bothEnds(platform);
    await appendAll(appending, numbers(0, 100));
    const heard = new ReceivedItems<string>();
    consuming.consume('reader', take(heard));
    expect(await heard.atLeast(100)).toEqual(numbers(0, 100));
    await appendAll(appending, numbers(100, 200));
    expect(await heard.atLeast(200)).toEqual(numbers(0, 200));
  });

  it('keep a record unchanged', async () => {
    await using platform = await TestPlatform.start(engine);
    const { appending, consuming } = await bothEnds(platform);
    const payload = bytes('as sent');
    const appended = appending.append(payload);
    payload.fill(0);
    await appended;
    const heard = new ReceivedItems<string>();
    consuming.consume('reader', take(heard));
    expect(await heard.atLeast(1)).toEqual(['as sent']);
  });

  it('deliver a batch again when its handler threw', async () => {
    await using platform = await TestPlatform.start(engine);
    const { appending, consuming } = await bothEnds(platform);
    await appendAll(appending, numbers(0, 3));
    const tries = new ReceivedItems<string>();
    const heard = new ReceivedItems<string>();
    consuming.consume('reader', async (batch) => {
      tries.take(batch.map(text).join());
      if (tries.items.length < 3) throw new Error('thrown by a test');
      for (const record of batch) heard.take(text(record));
    });
    expect(await heard.atLeast(3)).toEqual(numbers(0, 3));
    expect(tries.items.slice(0, 3)).toEqual([tries.items[0], tries.items[0], tries.items[0]]);
  });

  it('deliver every record to each consumer of a different name', async () => {
    await using platform = await TestPlatform.start(engine);
    const { appending, consuming } = await bothEnds(platform);
    const [one, other] = [new ReceivedItems<string>(), new ReceivedItems<string>()];
    consuming.consume('one', take(one));
    consuming.consume('other', take(other));
    await appendAll(appending, numbers(0, 50));
    expect(await one.atLeast(50)).toEqual(numbers(0, 50));
    expect(await other.atLeast(50)).toEqual(numbers(0, 50));
  });

  it('deliver each record to one of the consumers with the same name, and to each of them one batch at a time', async () => {
    await using platform = await TestPlatform.start(engine);
    const { appending, consuming } = await bothEnds(platform);
    const second = (await platform.hub.connect({ kind: 'backend' }, newProcessId())).stream(streams.usage);
    const heard = new ReceivedItems<string>();
    const overlaps = new ReceivedItems<string>();
    const handler = () => {
      let busy = false;
      return async (batch: readonly Uint8Array[]) => {
        if (busy) overlaps.take('two batches at a time');
        busy = true;
        await new Promise((resolve) => setImmediate(resolve));
        busy = false;
        for (const record of batch) heard.take(text(record));
      };
    };
    consuming.consume('shared', handler());
    second.consume('shared', handler());
    for (const one of numbers(0, 40)) await appending.append(bytes(one));
    expect([...(await heard.atLeast(40))].sort()).toEqual([...numbers(0, 40)].sort());
    expect(heard.items).toHaveLength(40);
    expect(overlaps.items).toEqual([]);
  });

  it("continue at a consumer's position after the bus is restarted", async () => {
    await using before = await TestPlatform.start(engine);
    const first = await bothEnds(before);
    await appendAll(first.appending, numbers(0, 10));
    const heard = new ReceivedItems<string>();
    const consuming = first.consuming.consume('reader', take(heard));
    await heard.atLeast(10);
    await consuming.stop();
    await appendAll(first.appending, numbers(10, 20));
    await using after = await before.restarted();
    const second = await bothEnds(after);
    await appendAll(second.appending, numbers(20, 30));
    const rest = new ReceivedItems<string>();
    second.consuming.consume('reader', take(rest));
    expect(await rest.atLeast(20)).toEqual(numbers(10, 30));
  });

  it('wait for the running batch when a consumer stops, and deliver no other', async () => {
    await using platform = await TestPlatform.start(engine);
    const { appending, consuming } = await bothEnds(platform);
    const begun = new ReceivedItems<string>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let finished = false;
    const consumer = consuming.consume('reader', async (batch) => {
      begun.take(batch.map(text).join());
      await released;
      finished = true;
    });
    await appending.append(bytes('first'));
    await begun.atLeast(1);
    await appending.append(bytes('second'));
    const stopped = consumer.stop().then(() => finished);
    release();
    expect(await stopped).toBe(true);
    expect(begun.items).toEqual(['first']);
    const rest = new ReceivedItems<string>();
    consuming.consume('reader', take(rest));
    expect(await rest.atLeast(1)).toEqual(['second']);
  });

  it('take records up to the size of a frame', async () => {
    await using platform = await TestPlatform.start(engine);
    const { appending, consuming } = await bothEnds(platform);
    const heard = new ReceivedItems<number>();
    consuming.consume('reader', async (batch) => {
      for (const record of batch) heard.take(record.byteLength);
    });
    await appending.append(new Uint8Array(0));
    for (let i = 0; i < 5; i++) await appending.append(new Uint8Array(frameMaxBytes));
    await expect(appending.append(new Uint8Array(frameMaxBytes + 1))).rejects.toMatchObject({ code: 'too_large' });
    expect(await heard.atLeast(6)).toEqual([0, ...Array.from({ length: 5 }, () => frameMaxBytes)]);
  });

  it('and buckets keep everything acknowledged across kill -9', async () => {
    const folder = await newFolder();
    const acknowledged = await engine.crash(folder);
    expect(acknowledged.records.length).toBeGreaterThan(100);
    expect(acknowledged.keys.size).toBeGreaterThan(10);
    await using platform = await TestPlatform.start(engine, { folder });
    const bucket = (await platform.remoteMcp()).bucket('sessions', { maxAgeMs: 3_600_000 });
    for (const [key, value] of acknowledged.keys) {
      const entry = await bucket.get(key);
      // The last put may have been stored before its acknowledgement was recorded.
      expect(Number(entry === null ? Number.NaN : text(entry.value)), key).toBeGreaterThanOrEqual(Number(value));
    }
    const heard = new Set<string>();
    const all = Promise.withResolvers<void>();
    platform.backend.stream(streams.usage).consume('reader', async (batch) => {
      for (const record of batch) heard.add(text(record));
      if (acknowledged.records.every((record) => heard.has(record))) all.resolve();
    });
    await all.promise;
  });
}

async function bothEnds(platform: TestPlatform): Promise<{ appending: Stream; consuming: Stream }> {
  const bus = await platform.remoteMcp();
  return { appending: bus.stream(streams.usage), consuming: platform.backend.stream(streams.usage) };
}

async function appendAll(stream: Stream, records: readonly string[]): Promise<void> {
  await Promise.all(records.map((record) => stream.append(bytes(record))));
}

function take(heard: ReceivedItems<string>): (batch: readonly Uint8Array[]) => Promise<void> {
  return async (batch) => {
    for (const record of batch) heard.take(text(record));
  };
}
