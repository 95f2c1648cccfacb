import { setTimeout as pause } from 'node:timers/promises';
import { type BenchPlatform, startPlatform } from './bench-platform.ts';
import { atMost, type Figure } from './figure.ts';
import type { Caller } from './load.ts';
import { openCallers, sideOf } from './sides.ts';

const rounds = 5;
const waitMaxMs = 1000;
/** Without it, a caller whose connection was closed would take the whole processor. */
const retryMs = 5;

/** The longest wait of eight callers when one of two runtimes is killed. */
export async function measureReplicas(): Promise<Figure[]> {
  await using bench = await startPlatform({ topology: 'distributed', replicas: { runtime: 2 } });
  const waits: number[] = [];
  while (waits.length < rounds) waits.push(await longestWait(bench));
  const what = 'one of two runtimes killed: longest wait of eight callers';
  return [atMost(what, Math.max(...waits), waitMaxMs, 'ms', { waits })];
}

/** Until the killed runtime is back. */
async function longestWait(bench: BenchPlatform): Promise<number> {
  const callers = await openCallers(sideOf(bench), 8);
  const stop = new AbortController();
  const waits = callers.map((caller) => longestWaitOf(caller, stop.signal));
  await bench.platform.killService('runtime').finally(() => stop.abort());
  const longest = Math.max(...(await Promise.all(waits)));
  for (const caller of callers) caller.close();
  return longest;
}

/** From one right answer to the next. A caller that is refused still waits. */
async function longestWaitOf(caller: Caller, signal: AbortSignal): Promise<number> {
  let longest = 0;
  let answeredAt = performance.now();
  while (!signal.aborted) {
    const isRefused = await caller.call().catch(() => pause(retryMs, true));
    if (isRefused) continue;
    longest = Math.max(longest, performance.now() - answeredAt);
    answeredAt = performance.now();
  }
  return Math.max(longest, performance.now() - answeredAt);
}
