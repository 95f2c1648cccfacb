import type { Definition } from './definition.ts';

/** Whether `svc up` starts the bus as a process: neither inside the single process, nor external. */
export function hasOwnBus({ topology, bus }: Definition): boolean {
  return topology === 'distributed' && bus.servers === 'auto';
}

/** Whether the bus is external: it keeps its own records. */
export function hasOtherBus({ topology, bus }: Definition): boolean {
  return topology === 'distributed' && bus.servers !== 'auto';
}
