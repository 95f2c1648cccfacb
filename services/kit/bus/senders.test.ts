import { expect, it, vi } from 'vitest';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { createLog } from '../log.ts';
import {
  allowanceMax,
  allowancePerSecond,
  costs,
  questionsAtOnceMax,
  questionsFromTokens,
  refusedMs,
  Senders,
} from './senders.ts';

const newEnd = () => `${newId('runtime')}-${newProcessId()}`;
/** Another process of the same runtime. */
const nextOf = (end: string) => `${end.split('-')[0]}-${newProcessId()}`;

function watched() {
  const lines: string[] = [];
  const closed: string[] = [];
  const logger = createLog({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const close = ({ runtime, process }: { runtime: string; process: string }) =>
    void closed.push(`${runtime}-${process}`);
  return { senders: new Senders({ logger: logger('bus'), close }), lines, closed };
}

/** Spends until refused. Returns how often it was allowed. */
function spendAll(senders: Senders, end: string, cost: keyof typeof costs, bytes = 0): number {
  for (let count = 0; count < 100_000; count++) if (!senders.spend(end, cost, bytes)) return count;
  return Number.POSITIVE_INFINITY;
}

it.each(Object.keys(costs) as (keyof typeof costs)[])(
  'a sender of too many (%s) is refused and closed once',
  (cost) => {
    vi.useFakeTimers();
    const { senders, lines, closed } = watched();
    const [hostile, honest] = [newEnd(), newEnd()];
    expect(spendAll(senders, hostile, cost)).toBe(allowanceMax / costs[cost].tokens);
    for (let i = 0; i < 1000; i++) expect(senders.spend(hostile, cost, 0)).toBe(false);
    expect([closed, lines.length]).toEqual([[hostile], 1]);
    expect(lines[0]).toContain(hostile.split('-')[0]);
    expect([senders.isRefused(hostile), senders.isRefused(honest)]).toEqual([true, false]);
    expect(senders.spend(honest, cost, 0)).toBe(true);
    vi.useRealTimers();
  },
);

it('bytes cost tokens', () => {
  vi.useFakeTimers();
  const { senders } = watched();
  expect(spendAll(senders, newEnd(), 'message', 1_000_000)).toBeLessThan(10);
  expect(spendAll(senders, newEnd(), 'stray', 500_000)).toBeLessThan(20);
  // Frames of four concurrent reports of the largest size.
  expect(spendAll(senders, newEnd(), 'control', 512 * 1024)).toBeGreaterThan(4 * 31);
  vi.useRealTimers();
});

it('tokens come back with time, and a sender that continues is closed again only after a while', () => {
  vi.useFakeTimers();
  const { senders, closed } = watched();
  const end = newEnd();
  spendAll(senders, end, 'stray');
  vi.advanceTimersByTime(refusedMs - 1000);
  expect(senders.spend(end, 'stray', 0)).toBe(false);
  expect(closed).toEqual([end]);
  vi.advanceTimersByTime(1001);
  expect(senders.isRefused(end)).toBe(false);
  expect(spendAll(senders, end, 'stray')).toBeLessThanOrEqual(allowancePerSecond * (refusedMs / 1000 + 1));
  expect(closed).toEqual([end, end]);
  vi.useRealTimers();
});

it('an honest process is never refused: heartbeats every 50 ms and ten questions a second, for a day', () => {
  vi.useFakeTimers();
  const { senders, closed } = watched();
  const end = newEnd();
  for (let tick = 0; tick < 20 * 60 * 60; tick++) {
    vi.advanceTimersByTime(50);
    senders.spend(end, 'message', 300);
    if (tick % 2 !== 0) continue;
    senders.spend(end, 'question', 2000);
    senders.begin(end)();
  }
  expect(closed).toEqual([]);
  vi.useRealTimers();
});

it('a process that reports 12 MiB repeatedly, and waits a little after each refusal, is not closed', () => {
  vi.useFakeTimers();
  const { senders, closed } = watched();
  const end = newEnd();
  let refusals = 0;
  for (let report = 0, failures = 0; report < 1000; report++) {
    senders.spend(end, 'question', 512 * 1024);
    // The other frames are in transit before the refusal comes.
    for (let frame = 1; frame < 24; frame++) senders.spend(end, 'control', 512 * 1024);
    try {
      senders.begin(end)();
      failures = 0;
    } catch {
      refusals++;
      vi.advanceTimersByTime(Math.min(100 * 2 ** failures++, 2500));
    }
  }
  expect(refusals).toBeGreaterThan(0);
  expect(closed).toEqual([]);
  vi.useRealTimers();
});

it('a sender with few tokens left gets no question answered, but is not closed', () => {
  vi.useFakeTimers();
  const { senders, closed } = watched();
  const end = newEnd();
  for (let left = allowanceMax; left >= questionsFromTokens; left -= costs.question.tokens)
    senders.spend(end, 'question', 0);
  expect(() => senders.begin(end)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  vi.advanceTimersByTime(1000);
  expect(() => senders.begin(end)()).not.toThrow();
  expect(closed).toEqual([]);
  vi.useRealTimers();
});

it('places of questions are counted for each runtime, across its processes', () => {
  const { senders } = watched();
  const [one, other] = [newEnd(), newEnd()];
  const releases = Array.from({ length: questionsAtOnceMax }, () => senders.begin(nextOf(one)));
  expect(() => senders.begin(nextOf(one))).toThrow(`The runtime "${one.split('-')[0]}" sends too many requests.`);
  senders.begin(other);
  releases[0]?.();
  senders.begin(nextOf(one));
  expect(() => senders.begin(one)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
});

it.each(['backend-p00000000000', 'backend', 'remote-mcp-p00000000000', 'nobody'])(
  "the platform's own services have no limit: %s",
  (end) => {
    const { senders, closed } = watched();
    for (let i = 0; i < 100_000; i++) senders.spend(end, 'stray', 1_000_000);
    for (let i = 0; i < 100; i++) senders.begin(end);
    expect([senders.isRefused(end), closed]).toEqual([false, []]);
  },
);

it('a return as another process does not renew an account', () => {
  const { senders } = watched();
  const end = newEnd();
  spendAll(senders, end, 'stray');
  expect(senders.isRefused(nextOf(end))).toBe(true);
  expect(senders.spend(nextOf(end), 'stray', 0)).toBe(false);
});

it('many other runtimes push out no account with an open question or few tokens left', () => {
  vi.useFakeTimers();
  const { senders } = watched();
  const [busy, spent] = [newEnd(), newEnd()];
  for (let i = 0; i < questionsAtOnceMax; i++) senders.begin(busy);
  spendAll(senders, spent, 'stray');
  for (let i = 0; i < 9000; i++) senders.spend(newEnd(), 'stray', 0);
  expect(() => senders.begin(busy)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(senders.isRefused(spent)).toBe(true);
  vi.useRealTimers();
});
