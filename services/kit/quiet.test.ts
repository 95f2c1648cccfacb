import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Quiet } from './quiet.ts';

function busyFor(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('is quiet once no request arrives any more, and not before', async () => {
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
    // On a busy machine the service may have become quiet meanwhile.
    if (performance.now() - askedAt < 100) expect(isQuiet).toBe(false);
  }
  await waiting;
  expect(performance.now() - askedAt).toBeGreaterThan(99);
});

test('requests that arrived while this process was busy are read first', async () => {
  const quiet = new Quiet();
  let isQuiet = false;
  const waiting = quiet.wait().then(() => {
    isQuiet = true;
  });
  busyFor(300);
  // Timers come before data received meanwhile.
  for (let count = 0; count < 3; count++) await turn();
  expect(isQuiet).toBe(false);
  await waiting;
});

test('an endless sender is not waited for', async () => {
  const quiet = new Quiet();
  const asking = setInterval(() => quiet.asked(), 5);
  await quiet.wait();
  clearInterval(asking);
});
