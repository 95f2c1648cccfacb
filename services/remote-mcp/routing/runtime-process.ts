import type { Heartbeat } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';
import { boundsOfProcess, InterimBudget } from './interim-budget.ts';

/** A process of a runtime that calls can go to, as far as its signs of life tell. */
export class RuntimeProcess {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  readonly callSubject: string;
  /** Calls of this remote-mcp that it has not answered yet. */
  inFlight = 0;
  /** Over all its calls of this remote-mcp: many calls at once must not make a flood. */
  readonly interims = new InterimBudget(boundsOfProcess, performance.now());
  #isGone = false;
  #leftAt: number | null = null;
  #heardAt: number | null = null;
  /** Calls of others that it had under way when it was last heard. */
  #ofOthers = 0;
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

  /** Calls under way: those of this remote-mcp, and of others as far as the last heartbeat tells. */
  get load(): number {
    return this.inFlight + this.#ofOthers;
  }

  heard(now: number, { intervalMs, inFlight }: Pick<Heartbeat, 'intervalMs' | 'inFlight'>): void {
    this.#heardAt = now;
    this.#intervalMs = intervalMs;
    this.#ofOthers = Math.max(0, inFlight - this.inFlight);
    this.#isGone = false;
    this.#leftAt = null;
  }

  /** Its silence counts anew from now. */
  pardon(now: number): void {
    if (this.#heardAt !== null) this.#heardAt = now;
  }

  /** So lately that the backend has hardly told yet what became of what it ran. */
  get hasJustLeft(): boolean {
    return this.#leftAt !== null;
  }

  gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#leftAt = performance.now();
  }

  /** True where it has not just left any more, and had until now. */
  settle(now: number): boolean {
    if (this.#leftAt === null || now - this.#leftAt <= newsMaxMs) return false;
    this.#leftAt = null;
    return true;
  }

  /** Two heartbeats missed, and a little for the way. */
  isSilent(now: number): boolean {
    return this.#heardAt !== null && now - this.#heardAt > this.#intervalMs * 2 + lateMs;
  }
}

const lateMs = 250;
/** What becomes of an MCP server whose process has gone is known a moment later, or never while the backend is away. */
const newsMaxMs = 5000;

/**
 * The one with the fewest calls under way among those that are there and not left out, and of equals any: several remote-mcps that heard the same
 * heartbeat would all choose the same one. Null where there is none.
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
    if (best === null || process.load < best.load) best = process;
  }
  return best;
}
