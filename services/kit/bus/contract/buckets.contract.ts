import { expect, it, vi } from 'vitest';
import { buckets } from '../../../contracts/bus/subjects.ts';
import { type Bucket, frameMaxBytes } from '../bus.ts';
import { type BusEngine, bytes, TestPlatform, text } from './test-platform.ts';

const maxAgeMs = 3_600_000;
const soonMs = 1000;

export function bucketsContract(engine: BusEngine): void {
  it('return the last value put, with a growing revision', async () => {
    await using platform = await TestPlatform.start(engine);
    const bucket = await sessions(platform);
    expect(await bucket.get('a')).toBeNull();
    const first = await bucket.put('a', bytes('1'));
    const second = await bucket.put('a', bytes('2'));
    expect(second).toBeGreaterThan(first);
    expect(await shown(bucket, 'a')).toEqual(['2', second]);
    await bucket.delete('a');
    await bucket.delete('never-there');
    expect(await bucket.get('a')).toBeNull();
    expect(await bucket.put('a', bytes(''))).toBeGreaterThan(second);
    expect((await shown(bucket, 'a'))[0]).toBe('');
  });

  it('are the same for every connection that opens them', async () => {
    await using platform = await TestPlatform.start(engine);
    const [one, other] = [await sessions(platform), await sessions(platform)];
    const revision = await one.put('a', bytes('1'));
    expect(await shown(other, 'a')).toEqual(['1', revision]);
  });

  it('keep the value of the moment of the put, and give each reader a copy', async () => {
    await using platform = await TestPlatform.start(engine);
    const bucket = await sessions(platform);
    const value = bytes('as put');
    const put = bucket.put('a', value);
    value.fill(0);
    await put;
    (await bucket.get('a'))?.value.fill(0);
    expect((await shown(bucket, 'a'))[0]).toBe('as put');
  });

  it('update a key only at the revision given', async () => {
    await using platform = await TestPlatform.start(engine);
    const bucket = await sessions(platform);
    const conflict = { code: 'conflict' };
    const created = await bucket.update('a', bytes('1'), 0);
    await expect(bucket.update('a', bytes('again'), 0)).rejects.toMatchObject(conflict);
    const updated = await bucket.update('a', bytes('2'), created);
    await expect(bucket.update('a', bytes('late'), created)).rejects.toMatchObject(conflict);
    await expect(bucket.update('b', bytes('nothing there'), created)).rejects.toMatchObject(conflict);
    expect(await shown(bucket, 'a')).toEqual(['2', updated]);
    await bucket.delete('a');
    await expect(bucket.update('a', bytes('deleted'), updated)).rejects.toMatchObject(conflict);
    await bucket.update('a', bytes('created again'), 0);
    expect((await shown(bucket, 'a'))[0]).toBe('created again');
  });

  it('let one of several updates of the same revision win', async () => {
    await using platform = await TestPlatform.start(engine);
    const both = [await sessions(platform), await sessions(platform)];
    const revision = await both[0]?.put('a', bytes('first'));
    const tries = Array.from({ length: 20 }, (_, i) => both[i % 2]?.update('a', bytes(String(i)), revision ?? 0));
    const settled = await Promise.allSettled(tries);
    expect(settled.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' });
  });

  it('forget a key when its age is over; a later put renews it', async () => {
    await using platform = await TestPlatform.start(engine);
    const bucket = await sessions(platform, soonMs);
    const began = performance.now();
    const old = await bucket.put('forgotten', bytes('1'));
    await bucket.put('renewed', bytes('1'));
    const renewing = setInterval(() => void bucket.put('renewed', bytes('2')), soonMs / 5);
    await vi.waitUntil(async () => (await bucket.get('forgotten')) === null, { timeout: 10_000, interval: 20 });
    expect(performance.now() - began).toBeGreaterThanOrEqual(soonMs - 50);
    clearInterval(renewing);
    expect((await shown(bucket, 'renewed'))[0]).toBe('2');
    await expect(bucket.update('forgotten', bytes('2'), old)).rejects.toMatchObject({ code: 'conflict' });
    await bucket.update('forgotten', bytes('2'), 0);
  });

  it('keep their entries when the bus is restarted', async () => {
    await using before = await TestPlatform.start(engine);
    const revision = await (await sessions(before)).put('a', bytes('kept'));
    await using after = await before.restarted();
    const bucket = await sessions(after);
    expect(await shown(bucket, 'a')).toEqual(['kept', revision]);
    expect(await bucket.update('a', bytes('next'), revision)).toBeGreaterThan(revision);
  });

  it('take values up to the size of a frame, and keys that every engine can represent', async () => {
    await using platform = await TestPlatform.start(engine);
    const bucket = await sessions(platform);
    await bucket.put('large', new Uint8Array(frameMaxBytes));
    expect((await bucket.get('large'))?.value.byteLength).toBe(frameMaxBytes);
    await expect(bucket.put('a', new Uint8Array(frameMaxBytes + 1))).rejects.toMatchObject({ code: 'too_large' });
    for (const key of ['', '.a', 'a.', 'a..b', 'a b', 'a*', 'a>', 'ä', 'a\n', 'k'.repeat(256)]) {
      const refused = { code: 'invalid_input' };
      await expect(bucket.put(key, bytes('')), key).rejects.toMatchObject(refused);
      await expect(bucket.update(key, bytes(''), 0), key).rejects.toMatchObject(refused);
      await expect(bucket.get(key), key).rejects.toMatchObject(refused);
      await expect(bucket.delete(key), key).rejects.toMatchObject(refused);
    }
  });
}

async function sessions(platform: TestPlatform, ageMs = maxAgeMs): Promise<Bucket> {
  return (await platform.remoteMcp()).bucket(buckets.sessions, { maxAgeMs: ageMs });
}

async function shown(bucket: Bucket, key: string): Promise<readonly [string, number]> {
  const entry = await bucket.get(key);
  return entry === null ? ['nothing', 0] : [text(entry.value), entry.revision];
}
