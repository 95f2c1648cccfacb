import { describe } from 'vitest';
import { type Topology, topologies } from '../../settings/choices.ts';
import { hasNatsServer } from '../platform.ts';

/** A table of two minutes is repeated by hand: `SVC_TEST_EVERY_TOPOLOGY=1`. */
const repeatsLong = process.env.SVC_TEST_EVERY_TOPOLOGY === '1';

/** The same rows against services in one process and against services that meet on NATS, on one platform each. */
export function onEachTopology(rows: (topology: Topology) => void, { isLong = false } = {}): void {
  for (const topology of topologies) {
    const isLeftOut = topology === 'distributed' && (!hasNatsServer || (isLong && !repeatsLong));
    describe.skipIf(isLeftOut)(topology, () => rows(topology));
  }
}
