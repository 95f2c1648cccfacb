import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkDefinition } from './definition/check.ts';
import { installationIn } from './installation.ts';
import { refuseOtherNodes } from './refuse-other-nodes.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-nodes-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const distributed = 'id: abcdef0123456789\ntopology: distributed\n';

function refuse(yaml: string, ...folders: readonly string[]): void {
  for (const folder of folders) mkdirSync(join(dir, 'data', folder), { recursive: true });
  refuseOtherNodes(installationIn(dir), checkDefinition(`${distributed}${yaml}`, 'svc.yaml'));
}

test('a cluster of NATS is refused over what one node kept, and one node over what a cluster kept', () => {
  expect(() => refuse('replicas: { nats: 3 }', 'nats')).toThrow(
    "data/nats holds what one node of NATS kept, which replicas.nats: 3 can't read.",
  );
  rmSync(join(dir, 'data'), { recursive: true });
  expect(() => refuse('', 'nats-cluster/nats')).toThrow('data/nats-cluster holds what three nodes of NATS kept');
});

test('what nothing was kept by, or is used already, is taken', () => {
  refuse('replicas: { nats: 3 }');
  refuse('replicas: { nats: 3 }\nbus: { persistentMessaging: false }', 'nats');
  refuse('replicas: { nats: 3 }', 'nats', 'nats-cluster/nats');
  refuse('', 'nats', 'nats-cluster/nats');
  refuse('bus: { servers: [nats://bus.example.com:4222] }', 'nats-cluster/nats');
});

test('nodes of Dgraph become more, and not fewer', () => {
  const graph = (replicas: string) => `graph: dgraph\nreplicas: { ${replicas} }`;
  refuse(graph('dgraph-alpha: 2'), 'dgraph/alpha', 'dgraph/zero');
  expect(() => refuse(graph('dgraph-alpha: 1'), 'dgraph/alpha-2')).toThrow(
    'replicas.dgraph-alpha is 1, and data/dgraph/alpha and those beside it are of 2 nodes: nodes of Dgraph can become more, not fewer.',
  );
  refuse(graph('dgraph-alpha: 3'));
  expect(() => refuse(graph('dgraph-alpha: 2'), 'dgraph/zero-3')).toThrow('replicas.dgraph-zero is 1');
});
