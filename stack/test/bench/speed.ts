import type { BenchPlatform } from './bench-platform.ts';
import { measureUp } from './commands.ts';
import { atLeast, atMost, type Figure, reported } from './figure.ts';
import { allAtOnce, type Load, median, quantile, steadily } from './load.ts';
import { type Side, startDirect, startFloor, startMirror, stopping } from './sides.ts';

const distributedUpMaxMs = 4000;
const rounds = 5;
const warmCalls = 1000;
const calls = 10_000;
const sessions = 32;
/** server-everything's HTTP transport keeps every event of a session, so that each call of a long session is slower than the one before. */
const callsOfSession = 500;

/** The platform, the MCP server's own transport and the floor, turn about in one run. */
export async function measureSpeed(platform: BenchPlatform): Promise<Figure[]> {
  const sides = [platform.side(), await startDirect(), await startFloor(), await startMirror()];
  using _ = stopping(sides);
  const one = await perSide(sides, oneSession);
  const many = await perSide(sides, manySessions);
  const steady = await perSide(sides.slice(0, 2), steadySessions);
  const fastest = Math.max(...['svc', 'direct', 'floor'].map((name) => median(many[name] ?? [])));
  return [
    atMost('one session, echo: median against direct', ratio(one, 'svc'), 0.85, '×', one),
    reported('one session, echo: median', median(one.svc ?? []), 'ms'),
    reported('one session, echo: floor against direct', ratio(one, 'floor'), '×'),
    reported('echo p99 at 300 calls a second', median(steady.svc ?? []), 'ms', steady),
    reported('echo p99 at 300 calls a second, direct', median(steady.direct ?? []), 'ms'),
    atLeast('32 sessions: calls a second against direct', ratio(many, 'svc'), 2, '×', many),
    reported('32 sessions: calls a second', median(many.svc ?? []), '/s'),
    reported('32 sessions: floor against direct', ratio(many, 'floor'), '×'),
    atLeast('the generator alone against the fastest side', median(many.mirror ?? []) / fastest, 2, '×'),
  ];
}

/** The same calls as inside one process, with every service in a process of its own and NATS between them. */
export async function measureDistributed(platform: BenchPlatform): Promise<Figure[]> {
  const sides = [platform.side(), await startDirect(), await startFloor('nats')];
  using _ = stopping(sides);
  const one = await perSide(sides, oneSession);
  const many = await perSide(sides, manySessions);
  const figures = [
    atMost('one session: median against direct', ratio(one, 'svc'), 2, '×', one),
    reported('one session: median', median(one.svc ?? []), 'ms'),
    reported('one session: against the floor over NATS', ratio(one, 'svc', 'floor'), '×'),
    atLeast('32 sessions: calls a second against direct', ratio(many, 'svc'), 1.2, '×', many),
    reported('32 sessions: calls a second', median(many.svc ?? []), '/s'),
    reported('32 sessions: floor over NATS against direct', ratio(many, 'floor'), '×'),
    ...(await measureUp(platform, distributedUpMaxMs)),
  ];
  return figures.map((figure) => ({ ...figure, what: `separate processes, ${figure.what}` }));
}

/** What was measured of each side, in the order of the rounds. */
export type PerSide<Measured> = Readonly<Record<string, readonly Measured[]>>;

/** Measures the sides in turn, so that what the machine does meanwhile slows all of them. */
export async function perSide<Measured>(
  sides: readonly Side[],
  measure: (side: Side) => Promise<Measured>,
): Promise<PerSide<Measured>> {
  const measured: Record<string, Measured[]> = Object.fromEntries(sides.map((side) => [side.name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const side of sides) measured[side.name]?.push(await measure(side));
  }
  return measured;
}

/** The load of so many sessions at once, each of which is replaced by a new one after some calls. */
export async function loadOf(side: Side, sessions: number): Promise<Load> {
  await loadOnce(side, sessions, warmCalls);
  const loads: Load[] = [];
  for (let left = calls; left > 0; left -= sessions * callsOfSession) {
    loads.push(await loadOnce(side, sessions, Math.min(left, sessions * callsOfSession)));
  }
  return {
    latenciesMs: Float64Array.from(loads.flatMap(({ latenciesMs }) => [...latenciesMs])),
    seconds: loads.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

async function loadOnce(side: Side, sessions: number, count: number): Promise<Load> {
  const callers = await side.callers(sessions);
  const load = await allAtOnce(callers, count);
  for (const caller of callers) caller.connection.close();
  return load;
}

export async function oneSession(side: Side): Promise<number> {
  return median((await loadOf(side, 1)).latenciesMs);
}

export async function manySessions(side: Side): Promise<number> {
  return perSecondOf(await loadOf(side, sessions));
}

export function perSecondOf({ latenciesMs, seconds }: Load): number {
  return latenciesMs.length / seconds;
}

async function steadySessions(side: Side): Promise<number> {
  const callers = await side.callers(8);
  await steadily(callers, 300, 1000);
  const latencies = await steadily(callers, 300, 5000);
  for (const caller of callers) caller.connection.close();
  return quantile(latencies, 0.99);
}

/** The median of a side against that of another one. */
export function ratio(numbers: PerSide<number>, name: string, other = 'direct'): number {
  return median(numbers[name] ?? []) / median(numbers[other] ?? []);
}
