import { describe } from 'vitest';
import { type Topology, topologies } from '../../definition/definition.ts';
import { hasNatsServer } from '../platform.ts';

/** The same rows against services in one process and against services that meet on NATS, on one platform each. */
export function onEachTopology(rows: (topology: Topology) => void): void {
  for (const topology of topologies) {
    describe.skipIf(topology === 'distributed' && !hasNatsServer)(topology, () => rows(topology));
  }
}
