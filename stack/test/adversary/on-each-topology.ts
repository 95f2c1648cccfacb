import { describe } from 'vitest';
import { type Topology, topologies } from '../../settings/choices.ts';
import { hasNatsServer } from '../platform.ts';

/** A table that takes two minutes runs on every topology only by hand: `SVC_TEST_EVERY_TOPOLOGY=1`. */
const repeatsLong = process.env.SVC_TEST_EVERY_TOPOLOGY === '1';

/**
 * Runs the same rows on one platform of each topology: services in one process, and services that communicate over
 * NATS.
 */
export function onEachTopology(rows: (topology: Topology) => void, { isLong = false } = {}): void {
  for (const topology of topologies) {
    const isLeftOut = topology === 'distributed' && (!hasNatsServer || (isLong && !repeatsLong));
    describe.skipIf(isLeftOut)(topology, () => rows(topology));
  }
}
