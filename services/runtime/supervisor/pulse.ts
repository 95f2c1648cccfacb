import { setTimeout as pause } from 'node:timers/promises';
import type { Instance, PingOutcome } from './instance.ts';

export interface PulseOptions {
  readonly instance: Pick<Instance, 'inFlight' | 'ping' | 'silentForMs'>;
  readonly signal: AbortSignal;
  readonly onPing: (outcome: PingOutcome) => void;
}

const intervalMs = 30_000;
const deafIntervalMs = 5000;
/** Pings in a row without an answer after which an MCP server that does nothing else is started anew. */
const deafMax = 3;

/** Whether anybody is there: asked when an instance has been silent for a while, and at once when a call got no answer. */
export class Pulse {
  #doubt = new AbortController();

  doubt(): void {
    this.#doubt.abort();
  }

  /** Returns when the instance has been deaf for so long that only a new start helps, or when the signal aborts. */
  async watch({ instance, signal, onPing }: PulseOptions): Promise<void> {
    for (let deaf = 0; ; ) {
      const waitMs = deaf > 0 ? deafIntervalMs : intervalMs;
      this.#doubt = new AbortController();
      await pause(waitMs, undefined, { signal: AbortSignal.any([signal, this.#doubt.signal]) }).catch(() => {});
      if (signal.aborted) return;
      const isSure = !this.#doubt.signal.aborted && instance.silentForMs < waitMs;
      const outcome = isSure ? 'prompt' : await instance.ping();
      if (signal.aborted) return;
      onPing(outcome);
      deaf = outcome === 'none' ? deaf + 1 : 0;
      // A call under way may be what it is busy with: it has a deadline of its own.
      if (deaf >= deafMax && instance.inFlight === 0) return;
    }
  }
}
