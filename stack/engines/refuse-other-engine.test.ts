import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installationIn } from '../installation.ts';
import { refuseOtherEngine } from './refuse-other-engine.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-engine-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test.each(['graph.sqlite', 'nats', 'nats-cluster', 'dgraph/alpha'])(
  'containers never begin with nothing beside what processes kept: data/%s',
  (kept) => {
    const installation = installationIn(dir);
    refuseOtherEngine(installation, 'docker');
    mkdirSync(join(installation.dataDir, kept), { recursive: true });
    expect(() => refuseOtherEngine(installation, 'docker')).toThrow(
      'svc.yaml says engine: docker, and the data of this platform is in data/.',
    );
    refuseOtherEngine(installation, 'process');
  },
);
