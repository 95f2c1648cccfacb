import { expect } from 'vitest';
import { isGood, openSession, rpc, send } from '../../../services/remote-mcp/test/raw.ts';

/** What a victim got while it was watched. */
export interface Seen {
  readonly calls: number;
  /** Each wrong answer once, shortened. */
  readonly wrong: readonly string[];
  readonly p99Ms: number;
}

/** Quantities of a machine that does other things too. */
const noticedMs = 50;
/** Of the same quantity without an attack. */
const slowerMax = 5;
const attemptsMax = 3;
const pauseMs = 4;
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
  #idleMs = Number.NaN;

  private constructor(options: VictimOptions, session: string) {
    this.#options = options;
    this.#session = session;
  }

  static async start(options: VictimOptions): Promise<Victim> {
    const victim = new Victim(options, await openSession(options.mcpUrl, options.key));
    await victim.#watch(AbortSignal.timeout(watchedMs));
    const seen = await victim.#watch(AbortSignal.timeout(watchedMs));
    expect(seen.wrong).toEqual([]);
    victim.#idleMs = seen.p99Ms;
    return victim;
  }

  /**
   * Works while the attack lasts, and long enough for a quantile to mean something: gets the same answers, about as soon as without. A slow
   * answer may be another program's work, so that a slow attack is tried anew; what the attack itself slows is slow each time.
   */
  async expectUndisturbedBy<Result>(attack: () => Promise<Result>): Promise<Result> {
    const p99Ms: number[] = [];
    for (;;) {
      const { result, seen } = await this.#watchDuring(attack);
      expect({ wrong: seen.wrong, answered: seen.calls > 0 }).toEqual({ wrong: [], answered: true });
      p99Ms.push(seen.p99Ms);
      if (seen.p99Ms <= Math.max(this.#idleMs * slowerMax, noticedMs)) return result;
      expect(p99Ms.length, `p99: ${p99Ms.join(', ')} ms, and ${this.#idleMs} ms when idle`).toBeLessThan(attemptsMax);
    }
  }

  async #watchDuring<Result>(attack: () => Promise<Result>): Promise<{ result: Result; seen: Seen }> {
    const ending = new AbortController();
    const watching = this.#watch(ending.signal);
    try {
      const [result] = await Promise.all([attack(), new Promise((resolve) => setTimeout(resolve, watchedMs))]);
      ending.abort();
      return { result, seen: await watching };
    } finally {
      ending.abort();
      await watching;
    }
  }

  async #watch(signal: AbortSignal): Promise<Seen> {
    const tookMs: number[] = [];
    const wrong: string[] = [];
    while (!signal.aborted) {
      const begun = performance.now();
      const answer = await this.#call();
      tookMs.push(performance.now() - begun);
      if (answer !== null) wrong.push(answer);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    tookMs.sort((a, b) => a - b);
    return {
      calls: tookMs.length,
      wrong: [...new Set(wrong)],
      p99Ms: tookMs[Math.ceil(tookMs.length * 0.99) - 1] ?? 0,
    };
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
