import { findPortHolder } from '../../machine/port-holder.ts';
import { portOf } from '../../machine/port-of.ts';
import type { RunningPlatform } from '../../state/find-running.ts';

/** Whether a running platform listens on a port. */
export function hasPort({ pid, record }: RunningPlatform, port: number): boolean {
  if (record === null) return findPortHolder(port)?.pid === pid;
  const { services } = record;
  if (services.some(({ url, ready }) => [url, ready.url].some((one) => portOf(one) === port))) return true;
  // A part may listen on more ports than its record lists.
  const holder = findPortHolder(port)?.pid;
  return services.some(({ process }) => process !== null && process.pid === holder);
}
