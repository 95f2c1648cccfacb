import { atLeast, atMost, type Figure, reported } from './figure.ts';
import { allAtOnce, median, oneAfterTheOther, quantile, steadily } from './load.ts';
import type { Platform } from './platform.ts';
import { type Side, startDirect, startFloor, startMirror } from './sides.ts';

const rounds = 5;
const warmCalls = 1000;
const calls = 10_000;
const sessions = 32;

/** The platform, the MCP server's own transport and the floor, turn about in one run. */
export async function measureSpeed(platform: Platform): Promise<Figure[]> {
  const sides = [platform.side(), await startDirect(), await startFloor(), await startMirror()];
  try {
    const one = await perSide(sides, oneSession);
    const many = await perSide(sides, manySessions);
    const steady = await perSide(sides.slice(0, 2), steadySessions);
    const mirror = median(many.mirror ?? []);
    return [
      atMost('one session, echo: median against direct', ratio(one, 'svc'), 0.85, '×', one),
      reported('one session, echo: median', median(one.svc ?? []), 'ms'),
      reported('one session, echo: floor against direct', ratio(one, 'floor'), '×'),
      reported('echo p99 at 300 calls a second', median(steady.svc ?? []), 'ms', steady),
      reported('echo p99 at 300 calls a second, direct', median(steady.direct ?? []), 'ms'),
      atLeast('32 sessions: calls a second against direct', ratio(many, 'svc'), 2, '×', many),
      reported('32 sessions: calls a second', median(many.svc ?? []), '/s'),
      reported('32 sessions: floor against direct', ratio(many, 'floor'), '×'),
      atLeast(
        'the generator alone against the fastest side',
        mirror / Math.max(...['svc', 'direct', 'floor'].map((name) => median(many[name] ?? []))),
        2,
        '×',
      ),
    ];
  } finally {
    for (const side of sides) side.stop();
  }
}

export type Numbers = Readonly<Record<string, readonly number[]>>;

export async function perSide(sides: readonly Side[], measure: (side: Side) => Promise<number>): Promise<Numbers> {
  const numbers: Record<string, number[]> = Object.fromEntries(sides.map((side) => [side.name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const side of sides) numbers[side.name]?.push(await measure(side));
  }
  return numbers;
}

export async function oneSession(side: Side): Promise<number> {
  const [caller] = await side.callers(1);
  if (caller === undefined) throw new Error(`No session with ${side.name}.`);
  await oneAfterTheOther(caller, warmCalls);
  const latencies = await oneAfterTheOther(caller, calls);
  caller.connection.close();
  return median(latencies);
}

export async function manySessions(side: Side): Promise<number> {
  const callers = await side.callers(sessions);
  await allAtOnce(callers, warmCalls);
  const perSecond = await allAtOnce(callers, calls);
  for (const caller of callers) caller.connection.close();
  return perSecond;
}

async function steadySessions(side: Side): Promise<number> {
  const callers = await side.callers(8);
  await steadily(callers, 300, 1000);
  const latencies = await steadily(callers, 300, 5000);
  for (const caller of callers) caller.connection.close();
  return quantile(latencies, 0.99);
}

export function ratio(numbers: Numbers, name: string): number {
  return median(numbers[name] ?? []) / median(numbers.direct ?? []);
}
