import type { Heartbeat } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';
import { boundsOfProcess, InterimBudget } from './interim-budget.ts';

/** A process of a runtime that takes calls. Its heartbeats show whether it is alive. */
export class RuntimeProcess {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  readonly callSubject: string;
  /** Calls of this remote-mcp that the process has not answered yet. */
  inFlight = 0;
  /** The budget of all its calls together: many concurrent calls must not become a flood. */
  readonly interims = new InterimBudget(boundsOfProcess, performance.now());
  #isGone = false;
  #leftAt: number | null = null;
  #heardAt: number | null = null;
  /** Calls of other remote-mcps, by the last heartbeat. */
  #ofOthers = 0;
  #intervalMs = 0;

  constructor(runtime: RuntimeId, process: ProcessId) {
    this.runtime = runtime;
    this.process = process;
    this.callSubject = subjects.call(runtime, process);
  }

  /** A process without a heartbeat so far counts as alive, because the backend named it. */
  get isThere(): boolean {
    return !this.#isGone;
  }

  /** Calls in progress: those of this remote-mcp, and those of others by the last heartbeat. */
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

  /** Starts the measurement of its silence again. */
  pardon(now: number): void {
    if (this.#heardAt !== null) this.#heardAt = now;
  }

  /** Whether the process ended so recently that the backend may not have reported its MCP servers yet. */
  get hasJustLeft(): boolean {
    return this.#leftAt !== null;
  }

  gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#leftAt = performance.now();
  }

  /** Returns true once, when the process no longer counts as just ended. */
  settle(now: number): boolean {
    if (this.#leftAt === null || now - this.#leftAt <= newsMaxMs) return false;
    this.#leftAt = null;
    return true;
  }

  /** Two heartbeats are missed, with some time for the transport. */
  isSilent(now: number): boolean {
    return this.#heardAt !== null && now - this.#heardAt > this.#intervalMs * 2 + lateMs;
  }
}

const lateMs = 250;
/** The backend reports the MCP servers of an ended process a moment later, or not at all while it is away. */
const newsMaxMs = 5000;

/**
 * The live process with the fewest calls in progress, without the excluded ones. Among equals the choice is random,
 * because several remote-mcps hear the same heartbeat. Null if there is none.
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
