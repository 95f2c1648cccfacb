import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { portWishesOf } from '../engines/plan-of.ts';
import { checkDefinition } from '../settings/check.ts';
import { installationIn } from '../state/installation.ts';
import { leasedPorts, readLease, writeLease } from './port-lease.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-lease-'));
  mkdirSync(installationIn(dir).stateDir);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const wishesOf = (yaml: string) => portWishesOf(checkDefinition(`id: abcdef0123456789\n${yaml}`, 'svc.yaml'));
const auto = wishesOf('');
const chosen = wishesOf('ports: { backend: 8080 }');
const moved = { backend: 3002, 'remote-mcp': 3004, runtime: 3005, frontend: 8889 };

test('the last value of auto is found again', () => {
  const installation = installationIn(dir);
  writeLease(installation, moved, auto);
  expect(leasedPorts(installation, auto)).toEqual(moved);
});

test('a port that was chosen by hand is not kept when auto takes its place', () => {
  const installation = installationIn(dir);
  writeLease(installation, moved, auto);
  writeLease(installation, { ...moved, backend: 8080 }, chosen);
  expect(leasedPorts(installation, chosen).backend).toBe(8080);
  expect(leasedPorts(installation, auto)).toEqual(moved);
});

test('without an earlier auto, that is the usual one', () => {
  const installation = installationIn(dir);
  writeLease(installation, { ...moved, backend: 8080 }, chosen);
  expect(readLease(installation).backend).toBe(3000);
});

test('the port of an absent part is kept', () => {
  const installation = installationIn(dir);
  const three = wishesOf('topology: distributed\nreplicas: { remote-mcp: 3 }');
  writeLease(installation, { ...moved, 'remote-mcp-3': 4000, nats: 4222, 'nats-http': 8222 }, three);
  writeLease(installation, moved, auto);
  expect(leasedPorts(installation, auto)).toEqual(moved);
  expect(leasedPorts(installation, three)['remote-mcp-3']).toBe(4000);
});
