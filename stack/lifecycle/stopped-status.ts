import type { Plan } from '../plan/plan.ts';
import { findOriginal, nameOfOriginal } from '../state/find-original.ts';
import { describeFullDisk } from '../state/free-space.ts';
import { noEnds, type ServiceStatus, type Status } from './platform-status.ts';
import { noContent } from './read-content.ts';
import { urlsOf } from './urls.ts';

/** An engine's knowledge of a stopped platform. */
export interface LastKnown extends Pick<Status, 'ended'> {
  /** The state of a service without process or container. */
  readonly serviceOf: (name: string) => Pick<ServiceStatus, 'state' | 'reason'> & ({ pid: null } | { container: null });
}

/** The status of a stopped platform: its parts, and how it ended. */
export function stoppedStatus(
  { installation, definition, addresses, parts }: Plan,
  { ended, serviceOf }: LastKnown,
): Status {
  return {
    state: 'stopped',
    topology: definition.topology,
    engine: definition.engine,
    version: null,
    urls: urlsOf(addresses),
    supervisor: null,
    services: parts.map(({ name, url }) => ({
      ...{ name, health: 'red', url, since: ended?.at ?? null, memoryBytes: null },
      ...serviceOf(name),
      ...noEnds,
    })),
    ended,
    fullDisk: describeFullDisk(installation),
    copyOf: nameOfOriginal(findOriginal(installation)),
    ...noContent,
  };
}
