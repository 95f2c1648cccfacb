import { expect, test } from 'vitest';
import { StartGate } from './start-gate.ts';

const never = new AbortController().signal;

async function isHeld(turn: Promise<unknown>): Promise<boolean> {
  return (
    (await Promise.race([turn.then(() => 'passed'), new Promise((resolve) => setImmediate(resolve, 'held'))])) ===
    'held'
  );
}

test('four start at once, and the end of each starts the next one, in order', async () => {
  const gate = new StartGate();
  const releases = await Promise.all([1, 2, 3, 4].map(() => gate.turn(never)));
  const [fifth, sixth] = [gate.turn(never), gate.turn(never)];
  expect(await isHeld(fifth)).toBe(true);
  releases[0]?.();
  releases[0]?.();
  (await fifth)();
  (await sixth)();
  for (const release of releases) release();
});

test("a start that gives up while waiting takes no other's turn", async () => {
  const gate = new StartGate();
  const releases = await Promise.all([1, 2, 3, 4].map(() => gate.turn(never)));
  const givingUp = new AbortController();
  const [gone, next] = [gate.turn(givingUp.signal), gate.turn(never)];
  givingUp.abort();
  await expect(gone).rejects.toThrow();
  releases[0]?.();
  (await next)();
  for (const release of releases) release();
});
