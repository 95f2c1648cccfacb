import { findPortHolder } from '../../machine/port-holder.ts';
import { portOf } from '../../machine/port-of.ts';
import type { RunningPlatform } from '../../state/find-running.ts';
import type { ServiceRecord } from '../../state/platform-record.ts';

/** Whether a running platform listens on a port. */
export function hasPort({ pid, record }: RunningPlatform, port: number): boolean {
  if (record === null) return findPortHolder(port)?.pid === pid;
  return findOnPort(record.services, port) !== null;
}

/** The part that listens on a port. */
export function findOnPort<Service extends ServiceRecord>(services: readonly Service[], port: number): Service | null {
  const known = services.find(({ url, ready }) => [url, ready.url].some((one) => portOf(one) === port));
  if (known !== undefined) return known;
  // A part may listen on more ports than its record lists.
  const holder = findPortHolder(port)?.pid;
  return services.find(({ process }) => process !== null && process.pid === holder) ?? null;
}
