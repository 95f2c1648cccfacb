import { setTimeout as pause } from 'node:timers/promises';

const pauseMinMs = 20;
const pauseMaxMs = 1000;

/**
 * Checks until it is true, or fails after `withinMs`. The pause is twice as long as the check: a check that runs `svc`
 * must not take the processor from the processes under test.
 */
export async function until(isTrue: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const began = performance.now();
    if (await isTrue()) return;
    const now = performance.now();
    if (now > deadline) throw new Error(`not within ${withinMs} ms: ${isTrue}`);
    await pause(Math.min(Math.max(pauseMinMs, 2 * (now - began)), pauseMaxMs));
  }
}
