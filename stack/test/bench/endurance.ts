import { liveBytes } from '../adversary/live-memory.ts';
import { startPlatform } from './bench-platform.ts';
import { atLeast, atMost, type Figure } from './figure.ts';
import { allAtOnce, perSecondOf } from './load.ts';
import { openCallers, sideOf } from './sides.ts';

const sessions = 8;
const rounds = 10;
const callsOfRound = 100_000;
const heapGrowthMax = 1.1;
/** A machine that other programs use is not equally fast for minutes. */
const paceMin = 0.9;

/** A million calls in the same sessions: the heap and the pace of the last round against those of the first. */
export async function measureEndurance(): Promise<Figure[]> {
  await using bench = await startPlatform();
  const callers = await openCallers(sideOf(bench), sessions);
  const pid = await bench.platform.pid();
  const heapMb: number[] = [];
  const perSecond: number[] = [];
  for (let round = 0; round < rounds; round++) {
    perSecond.push(perSecondOf(await allAtOnce(callers, callsOfRound)));
    heapMb.push((await liveBytes(pid)) / 1_048_576);
  }
  for (const caller of callers) caller.close();
  const [heap, pace] = [lastAgainstFirst(heapMb), lastAgainstFirst(perSecond)];
  return [
    atMost('heap after 1,000,000 calls against after 100,000', heap, heapGrowthMax, '×', { heapMb }),
    atLeast('calls a second of the last 100,000 against the first', pace, paceMin, '×', { perSecond }),
  ];
}

function lastAgainstFirst(values: readonly number[]): number {
  return (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN);
}
