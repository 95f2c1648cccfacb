import { expect, test } from 'vitest';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

const usual = { atOnce: 1, waitingMax: 10, waitingEachMax: 4, waitMaxMs: 60_000 };

/** A queue whose tasks end when the test says so. */
function open(options: Partial<FairQueueOptions> = {}) {
  const queue = new FairQueue({ ...usual, ...options });
  const begun: string[] = [];
  const running: (() => void)[] = [];
  const run = (sender: string, name = sender) =>
    queue.run(sender, () => {
      begun.push(name);
      return new Promise<void>((resolve) => running.push(resolve));
    });
  return {
    ...{ queue, begun, run },
    /** Ends the oldest running task. */
    async end() {
      running.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

test('runs a few tasks at once', async () => {
  const { begun, run, end } = open({ atOnce: 2 });
  for (const name of ['a', 'b', 'c']) void run(name);
  expect(begun).toEqual(['a', 'b']);
  await end();
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('senders take turns, so a sender with many tasks delays another by one task', async () => {
  const { begun, run, end } = open();
  for (const name of ['flood 1', 'flood 2', 'flood 3', 'flood 4']) void run('flood', name);
  void run('victim');
  for (let i = 0; i < 4; i++) await end();
  expect(begun).toEqual(['flood 1', 'flood 2', 'victim', 'flood 3', 'flood 4']);
});

test('leaves places free of a sender that has its share running', async () => {
  const { begun, run, end } = open({ atOnce: 3, runningEachMax: 2 });
  for (const name of ['flood 1', 'flood 2', 'flood 3', 'flood 4']) void run('flood', name);
  expect(begun).toEqual(['flood 1', 'flood 2']);
  for (const name of ['victim', 'other']) void run(name);
  expect(begun).toEqual(['flood 1', 'flood 2', 'victim']);
  await end();
  expect(begun.slice(3)).toEqual(['flood 3']);
  for (let i = 0; i < 4; i++) await end();
  expect(begun.slice(4)).toEqual(['other', 'flood 4']);
});

test('refuses a sender with too many waiting tasks, and no other', async () => {
  const { begun, run, end } = open({ waitingEachMax: 2 });
  for (let i = 0; i < 3; i++) void run('flood');
  await expect(run('flood')).rejects.toMatchObject({ code: 'rate_limited' });
  void run('victim');
  await end();
  await end();
  expect(begun).toContain('victim');
});

test('refuses all when too many tasks wait', async () => {
  const { run, end } = open({ waitingMax: 2 });
  for (const name of ['a', 'b', 'c']) void run(name);
  await expect(run('d')).rejects.toMatchObject({ code: 'unavailable' });
  await end();
  void run('e');
  await expect(run('f')).rejects.toMatchObject({ code: 'unavailable' });
});

test('refuses a task whose turn does not come in time, and keeps the others', async () => {
  const { begun, run, end } = open({ waitMaxMs: 20 });
  void run('a');
  await expect(run('b')).rejects.toMatchObject({ code: 'unavailable' });
  void run('c');
  await end();
  expect(begun).toEqual(['a', 'c']);
});

test('a failed task frees its place', async () => {
  const queue = new FairQueue(usual);
  await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await queue.run('b', async () => 'done')).toBe('done');
});

test('a full queue refuses the last task of the sender with the most', async () => {
  const { begun, run, end } = open({ waitingMax: 4 });
  void run('first');
  const flood = [1, 2, 3, 4].map((number) => run('flood', `flood ${number}`));
  const refused = expect(flood[3]).rejects.toMatchObject({ code: 'unavailable' });
  void run('victim');
  await refused;
  for (let i = 0; i < 4; i++) await end();
  expect(begun).toEqual(['first', 'flood 1', 'victim', 'flood 2', 'flood 3']);
});

test('a full queue of single tasks refuses the new one', async () => {
  const { run } = open({ waitingMax: 2 });
  for (const name of ['first', 'a', 'b']) void run(name);
  await expect(run('c')).rejects.toMatchObject({ code: 'unavailable' });
});
