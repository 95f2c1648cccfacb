import type { EnvRecord } from '../contracts/env/check.ts';
import type { Hub } from './bus/bus.ts';
import type { LogDestination } from './log.ts';

/** Starts a service with its environment and the resources of its process; the result stops it. */
export type StartService = (env: EnvRecord, surroundings: Surroundings) => Promise<RunningService>;

export interface Surroundings {
  /** The bus inside this process, for `BUS_SERVERS=inproc:`; null in a separate process. */
  readonly hub: Hub | null;
  readonly version: string;
  readonly log: LogDestination;
  /** How long running work may take when the service is stopped. Default: `drainMs` of contracts/drain. */
  readonly drainMs?: number;
}

export interface RunningService {
  /** Its address, with the actual port; null when it does not listen. */
  readonly url: string | null;
  /** Finishes running work, within its deadline, and releases everything. */
  stop(): Promise<void>;
}
