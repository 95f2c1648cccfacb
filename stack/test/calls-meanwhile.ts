import { expect } from 'vitest';

/** A call may be silent for a minute: none is for so long because its answer got lost. */
const silentMaxMs = 20_000;

/**
 * Calls one after the other for a while in which a node dies. Nobody waits for an answer that got lost with it; what can't be answered is refused by
 * name, and that for a moment only.
 */
export async function expectCallsMeanwhile(whileMs: number, call: () => Promise<void>): Promise<void> {
  const refused: string[] = [];
  let made = 0;
  let longestMs = 0;
  for (const end = performance.now() + whileMs; performance.now() < end; made++) {
    const began = performance.now();
    await call().catch((error: unknown) => refused.push(String(error)));
    longestMs = Math.max(longestMs, performance.now() - began);
  }
  expect(longestMs).toBeLessThan(silentMaxMs);
  for (const why of refused) expect(why).toMatch(/runtime|remote-mcp|unknown|not known/);
  expect(refused.length).toBeLessThan(made / 2);
}
