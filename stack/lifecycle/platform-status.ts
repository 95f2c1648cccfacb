import type { Definition } from '../settings/definition.ts';
import type { PartEnd } from '../state/platform-record.ts';
import type { ServiceState } from '../state/transition.ts';
import type { Content } from './read-content.ts';
import type { UnwantedEnd } from './unwanted-end.ts';
import type { Urls } from './urls.ts';

/** The JSON of `svc up` and `svc status`. */
export interface Status extends Content {
  readonly state: 'running' | 'stopped' | 'degraded';
  readonly topology: Definition['topology'];
  readonly engine: Definition['engine'];
  /** Of the running platform; a command of another version reports the difference. Null while none runs. */
  readonly version: string | null;
  readonly urls: Urls;
  /** The process that restarts ended parts; null when all services run in one process, or nothing runs. */
  readonly supervisor: SupervisorStatus | null;
  readonly services: readonly ServiceStatus[];
  /** How an unstopped platform ended. Its services may still run, but are not restarted. */
  readonly ended: UnwantedEnd | null;
  /** A sentence about the full disk: each part with data there fails in its own way. */
  readonly fullDisk: string | null;
  /**
   * Folder of the original, or its process when only that is known, if this folder is a copy. The original's state is
   * not shown.
   */
  readonly copyOf: string | null;
}

export interface SupervisorStatus {
  readonly pid: number;
  readonly state: 'running' | 'silent' | 'gone';
}

/** A process or a container. */
type RunsAs =
  | { readonly pid: number | null; readonly container?: never }
  | { readonly container: string | null; readonly pid?: never };

export type ServiceStatus = RunsAs & HowItIs;

interface HowItIs {
  readonly name: string;
  readonly state: ServiceState;
  readonly health: 'green' | 'yellow' | 'red';
  readonly url: string | null;
  /** ISO 8601, when it entered its present state. */
  readonly since: string | null;
  /** Of its process or container. In the embedded topology one process is the same for all. */
  readonly memoryBytes: number | null;
  /** Why it is not healthy. */
  readonly reason: string | null;
  /** The number of its unrequested ends since the platform was started, and the last of them, the youngest last. */
  readonly restarts: number;
  readonly ends: readonly PartEnd[];
}

export const noEnds = { restarts: 0, ends: [] } as const;

export const healthOf: Readonly<Record<ServiceState, ServiceStatus['health']>> = {
  planned: 'yellow',
  starting: 'yellow',
  healthy: 'green',
  unhealthy: 'red',
  restarting: 'red',
  failed: 'red',
  lost: 'red',
  stopped: 'red',
};
