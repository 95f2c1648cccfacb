import { once } from 'node:events';

/** One thing that goes wrong, for a while. When it returns, what was taken is given back or comes back by itself. */
export interface Fault {
  readonly name: string;
  readonly happen: () => Promise<void>;
}

/** Gives something back. */
export type Remove = () => Promise<unknown>;

/** Where something answers, until it is left. */
export interface Reach {
  readonly urls: readonly string[];
  readonly leave: Remove;
}

/** What runs the parts of a platform, for whoever takes them away. Parts are named as `svc status` names them. */
export interface EngineInHand {
  /** What can become of one part so that it comes back. */
  faultsOf(part: string): readonly Fault[];
  /** What can go wrong between parts. */
  readonly faultsBetween: readonly Fault[];
  /** Nothing answers there, and nothing says why, until it is thawed. */
  freeze(part: string): Promise<void>;
  thaw(part: string): Promise<void>;
  /** All parts that keep what the others work with, where each is one of its kind; else none. */
  readonly keepers: readonly string[];
  /** Of everything that belongs to the installation, as this machine numbers it. */
  processes(): Promise<readonly number[]>;
  /** What each node of the bus tells of itself. */
  busStates(): Promise<readonly unknown[]>;
  reachBus(): Promise<Reach>;
  /** Something that belongs to the installation, is forgotten, and runs this program of Node's until it is removed. */
  plant(program: string): Promise<Remove>;
  /** Ends or removes what `svc down` leaves on purpose. */
  stop(): Promise<void>;
  /** What is still there after that, in words. */
  left(): Promise<readonly string[]>;
}

/** What is forgotten begins to speak in a second or two, unless it has died. */
const speaksWithinMs = 30_000;

/** Resolves when it has said something. */
export async function hasSpoken(said: NodeJS.ReadableStream): Promise<void> {
  await once(said, 'data', { signal: AbortSignal.timeout(speaksWithinMs) });
}
