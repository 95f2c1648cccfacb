import { BoundedMap } from '../../kit/bounded-map.ts';

/** More than two processors can verify in an hour. */
const namesMax = 65_536;

interface Limit {
  readonly max: number;
  readonly periodMs: number;
}

/** The times of failures by name. The name that failed least recently is forgotten first. */
export class Failures {
  readonly #limit: Limit;
  readonly #times = new BoundedMap<readonly number[]>(namesMax);

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** The time until the next attempt; 0 if it may be now. */
  waitMs(name: string, now: number): number {
    const { max, periodMs } = this.#limit;
    const deciding = this.#recent(name, now).at(-max);
    return deciding === undefined ? 0 : deciding + periodMs - now;
  }

  add(name: string, now: number): void {
    this.#times.set(name, [...this.#recent(name, now), now]);
  }

  remove(name: string, at: number): void {
    const times = this.#times.get(name) ?? [];
    const left = times.toSpliced(times.indexOf(at), times.includes(at) ? 1 : 0);
    if (left.length === 0) this.forget(name);
    else this.#times.set(name, left);
  }

  forget(name: string): void {
    this.#times.delete(name);
  }

  #recent(name: string, now: number): readonly number[] {
    const since = now - this.#limit.periodMs;
    return (this.#times.get(name) ?? []).filter((at) => at > since);
  }
}

export function waitInWords(waitMs: number): string {
  const seconds = Math.ceil(waitMs / 1000);
  return seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
