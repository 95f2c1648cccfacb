import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';
import { processKey, type Sender } from '../bus/sender.ts';

/**
 * A process of a runtime that was active recently. Times are of the monotonic clock: after a machine slept, no
 * heartbeat counts as missed.
 */
export interface LiveProcess {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  readonly seenAt: number;
  readonly intervalMs: number;
  /** Program version; null until reported. */
  readonly version: string | null;
  /** Its sandbox setting; null until reported. */
  readonly sandbox: string | null;
  /** HOME of operators' commands without a sandbox; null until reported. */
  readonly home: string | null;
  /** Calls in progress at its last heartbeat. */
  readonly inFlight: number;
}

/** The process's own data in a sign of life. */
export interface ProcessProperties {
  readonly intervalMs?: number;
  readonly version?: string;
  readonly sandbox?: string | undefined;
  readonly home?: string | undefined;
  readonly inFlight?: number;
}

/** The default interval, until a process reports its HEARTBEAT_INTERVAL. */
export const intervalWhenUnknownMs = 5000;
/** Architecture §7, "Cloud runtime": unavailable after three missed heartbeats. */
export const missedMax = 3;

/**
 * The live runtime processes, by the heartbeats that this backend receives. Every backend receives all, so each knows
 * them without asking. Nothing of it is stored.
 */
export class Processes {
  /** By runtime and process. */
  readonly #live = new Map<string, LiveProcess>();
  readonly #now: () => number;
  readonly #listeners = new Set<(runtime: RuntimeId) => void>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Hears each sign of life and each end of a process, until the result is called. */
  onChange(listener: (runtime: RuntimeId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes a sign of life; true when the process was not known to be alive. */
  seen(runtime: RuntimeId, process: ProcessId, said: ProcessProperties = {}): boolean {
    const { intervalMs, version, sandbox, home, inFlight } = said;
    const key = processKey({ runtime, process });
    const known = this.#live.get(key);
    this.#live.set(key, {
      runtime,
      process,
      seenAt: this.#now(),
      intervalMs: intervalMs ?? known?.intervalMs ?? intervalWhenUnknownMs,
      version: version ?? known?.version ?? null,
      sandbox: sandbox ?? known?.sandbox ?? null,
      home: home ?? known?.home ?? null,
      inFlight: inFlight ?? known?.inFlight ?? 0,
    });
    this.#tell(runtime);
    return known === undefined;
  }

  gone(process: Sender): void {
    if (this.#live.delete(processKey(process))) this.#tell(process.runtime);
  }

  #tell(runtime: RuntimeId): void {
    for (const listener of this.#listeners) listener(runtime);
  }

  /** Restarts the silence of all processes from now. */
  pardonAll(): void {
    for (const [key, live] of this.#live) this.#live.set(key, { ...live, seenAt: this.#now() });
  }

  isLive(process: Sender): boolean {
    return this.#live.has(processKey(process));
  }

  find(process: Sender): LiveProcess | null {
    return this.#live.get(processKey(process)) ?? null;
  }

  isAvailable(runtime: RuntimeId): boolean {
    return this.of(runtime).length > 0;
  }

  /** The last heartbeat of its live processes, in wall-clock time; null without a live one. */
  lastHeardAt(runtime: RuntimeId): number | null {
    const [latest] = this.of(runtime).toSorted((a, b) => b.seenAt - a.seenAt);
    return latest === undefined ? null : Math.round(Date.now() - (this.#now() - latest.seenAt));
  }

  of(runtime: RuntimeId): readonly LiveProcess[] {
    return [...this.#live.values()].filter((live) => live.runtime === runtime);
  }

  /** Processes that have been silent for too long. */
  overdue(): readonly LiveProcess[] {
    const now = this.#now();
    return [...this.#live.values()].filter((live) => dueAt(live) <= now);
  }
}

function dueAt({ seenAt, intervalMs }: LiveProcess): number {
  return seenAt + missedMax * intervalMs;
}

export interface WithProcesses {
  readonly processes: Processes;
}
