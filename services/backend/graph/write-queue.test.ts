import { expect, it } from 'vitest';
import { WriteQueue } from './write-queue.ts';

const options = { waitMs: 60_000, waitingMax: 10, atOnce: 2 };

it('runs a limited number of calls at once, and starts the others in the order of arrival', async () => {
  const queue = new WriteQueue(options);
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, number) =>
    queue.run(async () => {
      begun.push(number);
      await promise;
      return number;
    }),
  );
  await expect.poll(() => begun).toEqual([0, 1]);
  ends[1]?.resolve();
  await all[1];
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
});

it('gives the place of a failed write to the next one', async () => {
  const queue = new WriteQueue({ ...options, atOnce: 1 });
  const failing = queue.run(() => Promise.reject(new Error('no')));
  const next = queue.run(async () => 'next');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('next');
});

it('bounds waiting writes, and does not start a write that waited too long', async () => {
  const queue = new WriteQueue({ waitMs: -1, waitingMax: 1, atOnce: 1 });
  const end = Promise.withResolvers<void>();
  const first = queue.run(() => end.promise);
  const waiting = queue.run(() => expect.fail('it was begun'));
  await expect(queue.run(async () => 'third')).rejects.toMatchObject({ code: 'unavailable' });
  end.resolve();
  await first;
  await expect(waiting).rejects.toThrow(/took too long/);
  expect(await queue.run(async () => 'later')).toBe('later');
});

it('closes after the accepted writes, and refuses later ones', async () => {
  const queue = new WriteQueue({ ...options, atOnce: 1 });
  const done: string[] = [];
  const both = ['one', 'two'].map((name) => queue.run(async () => done.push(name)));
  await queue.close();
  expect(done).toEqual(['one', 'two']);
  await Promise.all(both);
  await expect(queue.run(async () => 'three')).rejects.toMatchObject({ code: 'unavailable' });
  await queue.close();
});
