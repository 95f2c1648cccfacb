import { setTimeout as pause } from 'node:timers/promises';
import type { Instance, PingOutcome } from './instance.ts';

export interface PingScheduleOptions {
  readonly instance: Pick<Instance, 'ping' | 'silentForMs'>;
  readonly signal: AbortSignal;
  readonly onPing: (outcome: PingOutcome) => void;
}

const intervalMs = 30_000;
const deafIntervalMs = 5000;

/** Pings an instance after a silence, and at once when a call got no answer. */
export class PingSchedule {
  #doubt = new AbortController();

  doubt(): void {
    this.#doubt.abort();
  }

  /** Pings until the signal aborts. */
  async watch({ instance, signal, onPing }: PingScheduleOptions): Promise<void> {
    for (let waitMs = intervalMs; ; ) {
      this.#doubt = new AbortController();
      await pause(waitMs, undefined, { signal: AbortSignal.any([signal, this.#doubt.signal]) }).catch(() => {});
      if (signal.aborted) return;
      const isSure = !this.#doubt.signal.aborted && instance.silentForMs < waitMs;
      const outcome = isSure ? 'prompt' : await instance.ping();
      if (signal.aborted) return;
      onPing(outcome);
      waitMs = outcome === 'none' ? deafIntervalMs : intervalMs;
    }
  }
}
