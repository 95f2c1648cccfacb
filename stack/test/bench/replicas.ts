import { setTimeout as pause } from 'node:timers/promises';
import { type BenchPlatform, serviceOf } from './bench-platform.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { type Caller, median } from './load.ts';
import { eventually } from './processes.ts';
import { platformSide } from './sides.ts';
import { manySessions } from './speed.ts';

const rounds = 5;

/** Two of each against one of each on the same machine, and what a call sees of a runtime that is killed. */
export async function measureReplicas(platform: BenchPlatform): Promise<Figure[]> {
  const both: number[] = [];
  const one: number[] = [];
  const [first] = platform.mcpUrls;
  if (first === undefined) throw new Error('There is no remote-mcp.');
  for (let round = 0; round < rounds; round++) {
    both.push(await manySessions(platform.side()));
    one.push(await manySessions(platformSide([first], platform.key)));
  }
  const pauses: number[] = [];
  for (let round = 0; round < rounds; round++) pauses.push(await pauseWhenKilled(platform));
  const longest = Math.max(...pauses);
  return [
    reported('two remote-mcp and two runtimes, 32 sessions: calls a second', median(both), '/s', { both }),
    reported('the same through one remote-mcp: calls a second', median(one), '/s', { one }),
    atMost('a runtime killed: longest until its tools answer from the other', longest, 1000, 'ms', { pauses }),
  ];
}

/** The longest time that any of eight callers waits for an answer while a runtime is killed. */
async function pauseWhenKilled(bench: BenchPlatform): Promise<number> {
  const callers = await bench.side().callers(8);
  const stop = new AbortController();
  const work = callers.map((caller) => longestWait(caller, stop.signal));
  await pause(500);
  process.kill((await serviceOf(bench.platform, 'runtime')).pid, 'SIGKILL');
  await pause(1500);
  stop.abort();
  const longest = Math.max(...(await Promise.all(work)));
  for (const { connection } of callers) connection.close();
  // The next round needs both again.
  await eventually('the killed runtime', async () => {
    await serviceOf(bench.platform, 'runtime');
    await pause(2000);
  });
  return longest;
}

/** From one right answer to the next; what is refused meanwhile counts as waiting. */
async function longestWait({ connection, request, expected }: Caller, signal: AbortSignal): Promise<number> {
  let longest = 0;
  let answered = performance.now();
  while (!signal.aborted) {
    const answer = await connection.ask(request);
    const now = performance.now();
    if (!answer.includes(expected)) continue;
    longest = Math.max(longest, now - answered);
    answered = now;
  }
  return Math.max(longest, performance.now() - answered);
}
