import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Quiet } from './quiet.ts';

function busyFor(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('it is quiet once nobody asks any more, and not before', async () => {
  const quiet = new Quiet();
  let isQuiet = false;
  const waiting = quiet.wait().then(() => {
    isQuiet = true;
  });
  const begunAt = performance.now();
  let askedAt = begunAt;
  while (performance.now() - begunAt < 300) {
    askedAt = performance.now();
    quiet.asked();
    await turn();
    // On a machine that is busy with other things it may have been quiet meanwhile.
    if (performance.now() - askedAt < 100) expect(isQuiet).toBe(false);
  }
  await waiting;
  expect(performance.now() - askedAt).toBeGreaterThan(99);
});

test('what was asked while this process was busy is heard first', async () => {
  const quiet = new Quiet();
  let isQuiet = false;
  const waiting = quiet.wait().then(() => {
    isQuiet = true;
  });
  busyFor(300);
  // Timers come before what was received meanwhile.
  for (let count = 0; count < 3; count++) await turn();
  expect(isQuiet).toBe(false);
  await waiting;
});

test('who asks without end is not waited for', async () => {
  const quiet = new Quiet();
  const asking = setInterval(() => quiet.asked(), 5);
  await quiet.wait();
  clearInterval(asking);
});
