import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';
import { processKey, type Sender } from '../bus/sender.ts';

/** A runtime's process that was heard of lately. Times are of the monotonic clock: a machine that slept has missed nothing. */
export interface LiveProcess {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  readonly seenAt: number;
  readonly intervalMs: number;
  /** Of its program; null until it has said so. */
  readonly version: string | null;
  /** How it keeps its MCP servers apart; null until it has said so. */
  readonly sandbox: string | null;
}

/** What a process says of itself with a sign of life. */
export interface Said {
  readonly intervalMs?: number;
  readonly version?: string;
  readonly sandbox?: string | undefined;
}

/** HEARTBEAT_INTERVAL where a process has not said its own yet. */
export const intervalWhenUnknownMs = 5000;
/** Architecture §7, "Cloud runtime": unavailable after three heartbeats missed. */
export const missedMax = 3;

/**
 * The runtime processes that live, as this backend hears them: every backend hears all heartbeats, so each knows them without asking.
 * Nothing of it is stored; a backend that starts knows nobody until it hears them.
 */
export class Processes {
  /** By runtime and process. */
  readonly #live = new Map<string, LiveProcess>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a sign of life; true where the process was not known to live. */
  seen(runtime: RuntimeId, process: ProcessId, { intervalMs, version, sandbox }: Said = {}): boolean {
    const key = processKey({ runtime, process });
    const known = this.#live.get(key);
    this.#live.set(key, {
      runtime,
      process,
      seenAt: this.#now(),
      intervalMs: intervalMs ?? known?.intervalMs ?? intervalWhenUnknownMs,
      version: version ?? known?.version ?? null,
      sandbox: sandbox ?? known?.sandbox ?? null,
    });
    return known === undefined;
  }

  gone(process: Sender): void {
    this.#live.delete(processKey(process));
  }

  /** Counts the silence of all anew from now. */
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

  /** When a live process of it was heard last, by the clock on the wall; null where none lives. */
  lastHeardAt(runtime: RuntimeId): number | null {
    const [latest] = this.of(runtime).toSorted((a, b) => b.seenAt - a.seenAt);
    return latest === undefined ? null : Math.round(Date.now() - (this.#now() - latest.seenAt));
  }

  of(runtime: RuntimeId): readonly LiveProcess[] {
    return [...this.#live.values()].filter((live) => live.runtime === runtime);
  }

  /** Those that have been silent for too long. */
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
