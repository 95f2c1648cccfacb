import type { EnvRecord } from '../contracts/env/check.ts';
import type { Hub } from './bus/bus.ts';
import type { LogDestination } from './log.ts';

/** A service is started with its own environment record and what its process lends it, and stops when told. */
export type StartService = (env: EnvRecord, surroundings: Surroundings) => Promise<RunningService>;

export interface Surroundings {
  /** The bus inside this process, for `BUS_SERVERS=inproc:`; null in a process of its own. */
  readonly hub: Hub | null;
  readonly version: string;
  readonly log: LogDestination;
  /** How long what is under way may take to end when the service is stopped. Default: `drainMs` of contracts/drain. */
  readonly drainMs?: number;
}

export interface RunningService {
  /** Where it listens, with the port it really got; null where it listens nowhere. */
  readonly url: string | null;
  /** Finishes what is under way, within its deadline, and leaves nothing behind. */
  stop(): Promise<void>;
}
