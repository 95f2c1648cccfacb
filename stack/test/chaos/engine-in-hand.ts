import { once } from 'node:events';

/** A temporary fault. When `happen` returns, the fault is undone or will end by itself. */
export interface Fault {
  readonly name: string;
  readonly happen: () => Promise<void>;
}

/** Undoes a change. */
export type Remove = () => Promise<unknown>;

/** Addresses that answer until `leave` is called. */
export interface Reach {
  readonly urls: readonly string[];
  readonly leave: Remove;
}

/**
 * Control over the engine of a platform's parts, for tests that take parts away. Parts have the names of `svc status`.
 */
export interface EngineInHand {
  /** Faults after which this part comes back. */
  faultsOf(part: string): readonly Fault[];
  /** Faults of the connections between parts. */
  readonly faultsBetween: readonly Fault[];
  /** Makes a part silent, without an error, until it is thawed. */
  freeze(part: string): Promise<void>;
  thaw(part: string): Promise<void>;
  /** All parts that hold state for the others, where each is the only one of its kind; otherwise none. */
  readonly keepers: readonly string[];
  /** Process ids, on this machine, of everything that belongs to the installation. */
  processes(): Promise<readonly number[]>;
  /** The state that each node of the bus reports. */
  busStates(): Promise<readonly unknown[]>;
  reachBus(): Promise<Reach>;
  /** Leaks a process of the installation, which runs this program of Node until it is removed. */
  plant(program: string): Promise<Remove>;
  /** Ends or removes everything that `svc down` keeps on purpose. */
  stop(): Promise<void>;
  /** Names everything that remains after `stop`. */
  left(): Promise<readonly string[]>;
}

/** A leaked program writes something within a second or two, unless it has died. */
const speaksWithinMs = 30_000;

/** Resolves when the program has written something. */
export async function hasSpoken(stdout: NodeJS.ReadableStream): Promise<void> {
  await once(stdout, 'data', { signal: AbortSignal.timeout(speaksWithinMs) });
}
