import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { isGood, openSession, rpc, send } from '../../../services/remote-mcp/test/raw.ts';

/** What a victim got while it was watched. */
export interface Seen {
  readonly calls: number;
  /** Each wrong answer once, shortened. */
  readonly wrong: readonly string[];
  /** The p99, or another quantile. */
  readonly slowMs: number;
  /** Of a server that nobody attacked, meanwhile. */
  readonly controlMs: number;
}

/** An answer that takes no longer than this is not slow. */
const noticedMs = 50;
/** Of the p99 without an attack, and of the control's. */
const slowerMax = 5;
const attemptsMax = 3;
const pauseMs = 4;
/** Some 150 calls: p99 leaves out the slowest. */
const watchedMs = 1700;
const heardMax = 200;

export interface VictimOptions {
  readonly mcpUrl: string;
  readonly key: string;
  /** The call that is made again and again, and what must be in its answer. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly answer: string;
}

/** An agent of another workspace at steady work. It must not notice the attack. */
export class Victim {
  readonly #options: VictimOptions;
  readonly #session: string;
  readonly #control: string;
  #idleMs = Number.NaN;

  private constructor(options: VictimOptions, session: string, control: string) {
    this.#options = options;
    this.#session = session;
    this.#control = control;
  }

  static async start(options: VictimOptions): Promise<Victim> {
    const victim = new Victim(options, await openSession(options.mcpUrl, options.key), await startControl());
    await victim.#watch(AbortSignal.timeout(watchedMs));
    const seen = await victim.#watch(AbortSignal.timeout(watchedMs));
    expect(seen.wrong).toEqual([]);
    victim.#idleMs = seen.slowMs;
    return victim;
  }

  /**
   * Works while the attack lasts, and long enough for a quantile to mean something: gets the same answers, about as soon as without. Other
   * programs of the machine slow the control too. A slow attack is tried anew; what the attack itself slows is slow each time.
   */
  async expectUndisturbedBy<Result>(attack: () => Promise<Result>, { quantile = 0.99 } = {}): Promise<Result> {
    const slow: string[] = [];
    for (;;) {
      const { result, seen } = await this.#watchDuring(attack, quantile);
      expect({ wrong: seen.wrong, answered: seen.calls > 0 }).toEqual({ wrong: [], answered: true });
      const { slowMs, controlMs } = seen;
      if (slowMs <= Math.max(slowerMax * Math.max(this.#idleMs, controlMs), noticedMs)) return result;
      slow.push(`${slowMs.toFixed(1)} (control ${controlMs.toFixed(1)})`);
      expect(
        slow.length,
        `p${quantile * 100}: ${slow.join(', ')} ms; ${this.#idleMs.toFixed(1)} ms when idle`,
      ).toBeLessThan(attemptsMax);
    }
  }

  async #watchDuring<Result>(attack: () => Promise<Result>, quantile: number): Promise<{ result: Result; seen: Seen }> {
    const ending = new AbortController();
    const watching = this.#watch(ending.signal, quantile);
    try {
      const [result] = await Promise.all([attack(), new Promise((resolve) => setTimeout(resolve, watchedMs))]);
      ending.abort();
      return { result, seen: await watching };
    } finally {
      ending.abort();
      await watching;
    }
  }

  async #watch(signal: AbortSignal, quantile = 0.99): Promise<Seen> {
    const wrong = new Set<string>();
    const call = async () => {
      const answer = await this.#call();
      if (answer !== null) wrong.add(answer);
    };
    const ask = async () => void (await (await fetch(this.#control)).text());
    const [calls, controls] = await Promise.all([repeatedMs(call, signal), repeatedMs(ask, signal)]);
    return { calls: calls.length, wrong: [...wrong], slowMs: at(quantile, calls), controlMs: at(quantile, controls) };
  }

  /** Null where the answer is the one it should be. */
  async #call(): Promise<string | null> {
    const { mcpUrl, key, tool, arguments: args, answer } = this.#options;
    try {
      const body = rpc('tools/call', { name: tool, arguments: args });
      const got = await send(mcpUrl, { key, session: this.#session, body });
      return isGood(got) && got.text.includes(answer)
        ? null
        : `${got.status} ${got.text.replace(/"id":"[^"]*",/, '').slice(0, heardMax)}`;
    } catch (error) {
      return String(error).slice(0, heardMax);
    }
  }
}

/** How long each repetition took. */
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

/** The address of a server in a process of its own, which ends with this one. */
async function startControl(): Promise<string> {
  const main = fileURLToPath(new URL('control-main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [address] = await once(child.stdout.setEncoding('utf8'), 'data');
  child.unref();
  return address.trim();
}
