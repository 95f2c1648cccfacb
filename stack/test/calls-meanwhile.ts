import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { until } from './until.ts';

/** A lost answer must not keep a call waiting for its minute of silence. */
const silentMaxMs = 20_000;
const betweenCallsMs = 50;
const backWithinMs = 60_000;
/** Longest time from the first refused call to the last one. */
const refusedMaxMs = 6_000;

/**
 * Calls one after the other while a node is away; no call waits for an answer that was lost with the node. A call that
 * cannot be answered is refused by name, and only for a moment.
 */
export async function expectCallsUntil(isBack: () => Promise<boolean>, call: () => Promise<void>): Promise<void> {
  const refused: { readonly at: number; readonly why: string }[] = [];
  let longestMs = 0;
  let isOver = false;
  const callOn = async () => {
    while (!isOver) {
      const began = performance.now();
      await call().catch((error: unknown) => refused.push({ at: began, why: String(error) }));
      longestMs = Math.max(longestMs, performance.now() - began);
      await pause(betweenCallsMs);
    }
  };
  const back = until(isBack, backWithinMs).finally(() => {
    isOver = true;
  });
  await Promise.all([back, callOn()]);
  expect(longestMs).toBeLessThan(silentMaxMs);
  for (const { why } of refused) expect(why).toMatch(/runtime|remote-mcp|unknown|not known/);
  const [first, last] = [refused.at(0), refused.at(-1)];
  expect((last?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(refusedMaxMs);
}
