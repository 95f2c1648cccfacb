import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { portWishesOf } from '../engines/plan-of.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { installationIn } from '../state/installation.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { leasedPorts, writeLease } from './port-lease.ts';

const dir = folderOfEachTest();

const wishesOf = (yaml: string) => portWishesOf(definitionOf(yaml));
const auto = wishesOf('');
const chosen = wishesOf('ports: { backend: 8080 }');
const three = wishesOf('topology: distributed\nreplicas: { remote-mcp: 3 }');
const moved = { backend: 3002, 'remote-mcp': 3004, runtime: 3005, frontend: 8889 };

test('the last value of auto is found again, also after a port that was chosen by hand and for a part that was absent', () => {
  const installation = installationIn(dir());
  mkdirSync(installation.stateDir);
  writeLease(installation, { ...moved, backend: 8080 }, chosen);
  expect(leasedPorts(installation, auto)).toEqual({ ...moved, backend: 3000 });
  writeLease(installation, { ...moved, 'remote-mcp-3': 4000, nats: 4222, 'nats-http': 8222 }, three);
  writeLease(installation, { ...moved, backend: 8080 }, chosen);
  expect(leasedPorts(installation, chosen).backend).toBe(8080);
  expect(leasedPorts(installation, auto)).toEqual(moved);
  expect(leasedPorts(installation, three)['remote-mcp-3']).toBe(4000);
});
