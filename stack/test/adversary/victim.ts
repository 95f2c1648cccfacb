import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { isGood, openSession, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import type { TwoHomes } from '../homes.ts';

/** An answer within this time is never slow. */
const noticedMs = 50;
/** Limit relative to the p99 without an attack, and to the p99 of the control. */
const slowerMax = 5;
const attemptsMax = 3;
const pauseMs = 4;
/** Time for about 150 calls: p99 leaves out the slowest. */
const watchedMs = 1700;
const heardMax = 200;

export type Victim = Awaited<ReturnType<typeof startVictim>>;

/** An agent of workspace B at steady work. It must not notice the attack. */
export async function startVictim({ platform, b: { same, mark } }: Pick<TwoHomes, 'platform' | 'b'>) {
  const [url, key] = [`${platform.mcpUrl}?skillIds=${same.skill}`, same.keyText];
  const session = await openSession(url, key);
  const control = await startControl();

  /** Returns each wrong answer once, and a quantile of the calls and of the control, which no attack targets. */
  async function watchDuring<Result>(attack: () => Promise<Result>, quantile = 0.99) {
    const ending = new AbortController();
    const wrong = new Set<string>();
    const call = async () => {
      const body = rpc('tools/call', { name: 'get-env', arguments: {} });
      const got = await send(url, { key, session, body }).catch((error) => ({
        status: 0,
        text: String(error),
        body: {},
      }));
      if (isGood(got) && got.text.includes(mark)) return;
      wrong.add(`${got.status} ${got.text.replace(/"id":"[^"]*",/, '').slice(0, heardMax)}`);
    };
    const ask = async () => void (await (await fetch(control)).text());
    const attacking = Promise.all([attack(), pause(watchedMs)]).finally(() => ending.abort());
    const watching = [repeatedMs(call, ending.signal), repeatedMs(ask, ending.signal)] as const;
    const [[result], calls, controls] = await Promise.all([attacking, ...watching]);
    const [slowMs, controlMs] = [at(quantile, calls), at(quantile, controls)];
    return { result, calls: calls.length, wrong: [...wrong], slowMs, controlMs };
  }

  await watchDuring(async () => {});
  const idle = await watchDuring(async () => {});
  expect(idle.wrong).toEqual([]);

  /**
   * Works during the attack, and long enough for a meaningful quantile; it must get the same answers, about as fast as
   * without the attack. A slow attack is repeated: other programs slow the control too, and only the attack's own
   * delay appears each time.
   */
  async function expectUndisturbedBy<Result>(attack: () => Promise<Result>, { quantile = 0.99 } = {}): Promise<Result> {
    const slow: string[] = [];
    for (;;) {
      const { result, calls, wrong, slowMs, controlMs } = await watchDuring(attack, quantile);
      expect({ wrong, answered: calls > 0 }).toEqual({ wrong: [], answered: true });
      if (slowMs <= Math.max(slowerMax * Math.max(idle.slowMs, controlMs), noticedMs)) return result;
      slow.push(`${slowMs.toFixed(1)} (control ${controlMs.toFixed(1)})`);
      const seen = `p${quantile * 100}: ${slow.join(', ')} ms; ${idle.slowMs.toFixed(1)} ms when idle`;
      expect(slow.length, seen).toBeLessThan(attemptsMax);
    }
  }
  return { expectUndisturbedBy };
}

/** The duration of each repetition. */
async function repeatedMs(work: () => Promise<void>, signal: AbortSignal): Promise<readonly number[]> {
  const tookMs: number[] = [];
  while (!signal.aborted) {
    const begun = performance.now();
    await work();
    tookMs.push(performance.now() - begun);
    await pause(pauseMs);
  }
  return tookMs;
}

function at(quantile: number, values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * quantile) - 1] ?? 0;
}

/** Starts a server in its own process, which ends with this one. Returns its address. */
async function startControl(): Promise<string> {
  const main = fileURLToPath(new URL('control-main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [address] = await once(child.stdout.setEncoding('utf8'), 'data');
  child.unref();
  return address.trim();
}
