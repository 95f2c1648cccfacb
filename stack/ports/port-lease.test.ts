import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { portWishesOf } from '../engines/plan-of.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { type Installation, installationIn } from '../state/installation.ts';
import { leasedPorts, readLease, writeLease } from './port-lease.ts';

let installation: Installation;
beforeEach(() => {
  installation = installationIn(mkdtempSync(join(tmpdir(), 'svc-lease-')));
  mkdirSync(installation.stateDir);
});
afterEach(() => rmSync(installation.dir, { recursive: true, force: true }));

const wishesOf = (yaml: string) => portWishesOf(definitionOf(yaml));
const auto = wishesOf('');
const chosen = wishesOf('ports: { backend: 8080 }');
const moved = { backend: 3002, 'remote-mcp': 3004, runtime: 3005, frontend: 8889 };

test('the last value of auto is found again, and a port that was chosen by hand is not kept in its place', () => {
  writeLease(installation, moved, auto);
  expect(leasedPorts(installation, auto)).toEqual(moved);
  writeLease(installation, { ...moved, backend: 8080 }, chosen);
  expect(leasedPorts(installation, chosen).backend).toBe(8080);
  expect(leasedPorts(installation, auto)).toEqual(moved);
});

test('without an earlier auto, that is the usual one', () => {
  writeLease(installation, { ...moved, backend: 8080 }, chosen);
  expect(readLease(installation).backend).toBe(3000);
});

test('the port of an absent part is kept', () => {
  const three = wishesOf('topology: distributed\nreplicas: { remote-mcp: 3 }');
  writeLease(installation, { ...moved, 'remote-mcp-3': 4000, nats: 4222, 'nats-http': 8222 }, three);
  writeLease(installation, moved, auto);
  expect(leasedPorts(installation, auto)).toEqual(moved);
  expect(leasedPorts(installation, three)['remote-mcp-3']).toBe(4000);
});
