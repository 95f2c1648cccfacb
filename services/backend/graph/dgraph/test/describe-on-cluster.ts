import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { findDgraph, TestCluster } from './test-cluster.ts';

/** Starts a cluster for the tests of a suite, which are skipped if the program is missing. */
export function describeOnCluster(tests: (cluster: () => TestCluster) => void): void {
  describe.skipIf(findDgraph() === null)('on a real cluster', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-dgraph-'));
    let started: TestCluster | null = null;
    beforeAll(async () => {
      started = await TestCluster.start(folder);
    }, startMs);
    afterAll(async () => {
      await started?.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    tests(() => started ?? expect.fail('no cluster was started'));
  });
}

/** Two leader elections on a busy machine. */
const startMs = 90_000;
