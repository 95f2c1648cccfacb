import { liveBytes } from '../adversary/live-memory.ts';
import { type BenchPlatform, startPlatform } from './bench-platform.ts';
import { atMost, type Figure } from './figure.ts';
import { openCaller, targetOf } from './sides.ts';

/** The first sessions also pay for code and buffers, and meanwhile the start's own memory is freed. */
const firstSessions = 8000;
const sessions = 10_000;
const eachMaxKb = 3;

/** The memory of each of many sessions that do nothing. In the resident size, the garbage of their opening hides it. */
export async function measureSessions(): Promise<Figure[]> {
  await using bench = await startPlatform();
  const pid = await bench.platform.pid();
  await openSessions(bench, firstSessions);
  const before = await liveBytes(pid);
  await openSessions(bench, sessions);
  const after = await liveBytes(pid);
  const eachKb = (after - before) / sessions / 1024;
  return [atMost('10,000 idle sessions: memory of each', eachKb, eachMaxKb, 'KB', { before, after })];
}

/** A session outlives the connection on which it was opened. */
async function openSessions({ platform, key }: BenchPlatform, count: number): Promise<void> {
  for (let i = 0; i < count; i++) (await openCaller(targetOf(platform, key))).close();
}
