import { expect, test } from 'vitest';
import { Slots, SlotsByName } from './slots.ts';

test('runs a limited number of tasks at once, in the order of their requests, also after a failure', async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = gates.map((gate, i) =>
    slots.run(async () => {
      begun.push(i);
      await gate.promise;
    }),
  );
  all[0]?.catch(() => undefined);
  expect(begun).toEqual([0, 1]);
  gates[0]?.reject(new Error('failed'));
  await expect(all[0]).rejects.toThrow('failed');
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve();
  await Promise.all(all.slice(1));
  await slots.run(async () => void begun.push(4));
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test('one name does not wait for another', async () => {
  const slots = new SlotsByName(1);
  const begun: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = (what: string) => async () => {
    begun.push(what);
    await gate.promise;
  };
  const all = [slots.run('a', work('a1')), slots.run('a', work('a2')), slots.run('b', work('b1'))];
  expect(begun).toEqual(['a1', 'b1']);
  gate.resolve();
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});
