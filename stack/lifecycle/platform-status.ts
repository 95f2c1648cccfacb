import type { Definition } from '../settings/definition.ts';
import type { PartEnd } from '../state/platform-record.ts';
import type { ServiceState } from '../state/transition.ts';
import type { Content } from './read-content.ts';
import type { UnwantedEnd } from './unwanted-end.ts';
import type { Urls } from './urls.ts';

/** What `svc up` and `svc status` print as JSON. */
export interface Status extends Content {
  readonly state: 'running' | 'stopped' | 'degraded';
  readonly topology: Definition['topology'];
  readonly engine: Definition['engine'];
  /** Of the platform that runs; a command of another version should say so. Null while none does. */
  readonly version: string | null;
  readonly urls: Urls;
  /** What starts processes again that end; null where all services live in one process, or nothing runs. */
  readonly supervisor: SupervisorStatus | null;
  readonly services: readonly ServiceStatus[];
  /** Where nobody stopped it: how it ended. Its services may go on without it, and then nothing starts them again. */
  readonly ended: UnwantedEnd | null;
  /** Which of its disks has no room left, as a sentence: whoever keeps data there fails, each in its own way. */
  readonly fullDisk: string | null;
  /** Folder of the original, or its process where only that is known, if this folder is a copy; what runs there is not shown. */
  readonly copyOf: string | null;
}

export interface SupervisorStatus {
  readonly pid: number;
  readonly state: 'running' | 'silent' | 'gone';
}

/** What it runs as: a process, or a container. */
type RunsAs =
  | { readonly pid: number | null; readonly container?: never }
  | { readonly container: string | null; readonly pid?: never };

export type ServiceStatus = RunsAs & HowItIs;

interface HowItIs {
  readonly name: string;
  readonly state: ServiceState;
  readonly health: 'green' | 'yellow' | 'red';
  readonly url: string | null;
  /** ISO 8601, when it took its present state. */
  readonly since: string | null;
  /** Of its process or container. In the embedded topology one process is the same for all. */
  readonly memoryBytes: number | null;
  /** Why it is not healthy. */
  readonly reason: string | null;
  /** How often it ended without being asked since the platform was started; and the last of these ends, the youngest last. */
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
