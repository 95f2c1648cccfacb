import type { Definition } from './definition.ts';

/** Whether the bus is a process that `svc up` starts: not inside the one process, and not one that somebody else runs. */
export function hasOwnBus({ topology, bus }: Definition): boolean {
  return topology === 'distributed' && bus.servers === 'auto';
}
