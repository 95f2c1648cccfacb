import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { findDgraph, TestCluster } from './test-cluster.ts';

/** A cluster for the tests of a suite, which are left out where there is no program for one. */
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

/** Two elections, on a machine that may have other things to do. */
const startMs = 90_000;
