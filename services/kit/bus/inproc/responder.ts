import type { Responder as Handle, RespondOptions, Subscription } from '../bus.ts';
import type { Answerer, ExchangeEnd } from './exchange.ts';

const concurrencyMaxDefault = 1024;

/** Handles several requests concurrently. */
export class Responder implements Answerer, Subscription {
  readonly kind = 'responder';
  readonly pattern: string;
  readonly party: ExchangeEnd;
  readonly handle: Handle;
  readonly #concurrencyMax: number;
  readonly #leave: () => Promise<void>;
  /** Running handlers, whether or not their caller still waits. */
  #running = 0;

  constructor(
    pattern: string,
    handle: Handle,
    options: RespondOptions,
    place: { party: ExchangeEnd; leave: () => Promise<void> },
  ) {
    this.pattern = pattern;
    this.handle = handle;
    this.party = place.party;
    this.#concurrencyMax = options.concurrencyMax ?? concurrencyMaxDefault;
    this.#leave = place.leave;
  }

  get running(): number {
    return this.#running;
  }

  get full(): boolean {
    return this.#running >= this.#concurrencyMax;
  }

  begin(): void {
    this.#running++;
  }

  settled(): void {
    this.#running--;
  }

  stop(): Promise<void> {
    return this.#leave();
  }
}

/** The responder with the fewest requests in progress, any of them when equal; null when all are full. */
export function leastBusy(responders: readonly Responder[]): Responder | null {
  const start = responders.length > 1 ? Math.floor(Math.random() * responders.length) : 0;
  let best: Responder | null = null;
  for (let i = 0; i < responders.length; i++) {
    const candidate = responders[(start + i) % responders.length];
    if (candidate === undefined || candidate.full) continue;
    if (best === null || candidate.running < best.running) best = candidate;
  }
  return best;
}
