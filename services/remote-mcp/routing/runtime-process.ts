import { subjects } from '../../contracts/bus/subjects.ts';
import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';

/** A process of a runtime that calls can go to, as far as its signs of life tell. */
export class RuntimeProcess {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  readonly callSubject: string;
  /** Calls of this remote-mcp that it has not answered yet. */
  inFlight = 0;
  #isGone = false;
  #heardAt: number | null = null;
  #intervalMs = 0;

  constructor(runtime: RuntimeId, process: ProcessId) {
    this.runtime = runtime;
    this.process = process;
    this.callSubject = subjects.call(runtime, process);
  }

  /** One that was never heard is believed to be there: the backend said so, and would say otherwise. */
  get isThere(): boolean {
    return !this.#isGone;
  }

  heard(now: number, intervalMs: number): void {
    this.#heardAt = now;
    this.#intervalMs = intervalMs;
    this.#isGone = false;
  }

  /** Its silence counts anew from now. */
  pardon(now: number): void {
    if (this.#heardAt !== null) this.#heardAt = now;
  }

  gone(): void {
    this.#isGone = true;
  }

  /** Two heartbeats missed, and a little for the way. */
  isSilent(now: number): boolean {
    return this.#heardAt !== null && now - this.#heardAt > this.#intervalMs * 2 + lateMs;
  }
}

const lateMs = 250;

/**
 * The one with fewest calls under way among those that are there and not left out, and of equals any: every remote-mcp sees only its own
 * calls, and all would choose the same. Null where there is none.
 */
export function leastBusy(
  processes: readonly RuntimeProcess[],
  leftOut: ReadonlySet<RuntimeProcess>,
): RuntimeProcess | null {
  const start = processes.length > 1 ? Math.floor(Math.random() * processes.length) : 0;
  let best: RuntimeProcess | null = null;
  for (let at = 0; at < processes.length; at++) {
    const process = processes[(start + at) % processes.length];
    if (process === undefined || !process.isThere || leftOut.has(process)) continue;
    if (best === null || process.inFlight < best.inFlight) best = process;
  }
  return best;
}
