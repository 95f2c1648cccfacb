import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { graphContract } from '../graph.contract.ts';
import { findDgraph, TestCluster } from './test/test-cluster.ts';

const startMs = 90_000;
const folder = mkdtempSync(join(tmpdir(), 'svc-dgraph-'));
let cluster: TestCluster | null = null;

describe.skipIf(findDgraph() === null)('on a real cluster', () => {
  beforeAll(async () => {
    cluster = await TestCluster.start(folder);
  }, startMs);
  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  graphContract({
    name: 'Dgraph',
    empty: async () => {
      if (cluster === null) throw new Error('no cluster was started');
      return cluster.emptyGraph();
    },
  });
});
