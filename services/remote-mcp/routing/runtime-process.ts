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

  gone(): void {
    this.#isGone = true;
  }

  /** Two heartbeats missed, and a little for the way. */
  isSilent(now: number): boolean {
    return this.#heardAt !== null && now - this.#heardAt > this.#intervalMs * 2 + lateMs;
  }
}

const lateMs = 250;

/** The one with fewest calls under way among those that are there; null where none is. */
export function leastBusy(processes: readonly RuntimeProcess[]): RuntimeProcess | null {
  let best: RuntimeProcess | null = null;
  for (const process of processes) {
    if (process.isThere && (best === null || process.inFlight < best.inFlight)) best = process;
  }
  return best;
}
