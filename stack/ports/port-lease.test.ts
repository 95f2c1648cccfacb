import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installationIn } from '../installation.ts';
import { leasedPorts, readLease, writeLease } from './port-lease.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-lease-'));
  mkdirSync(installationIn(dir).stateDir);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const auto = { backend: 'auto', 'remote-mcp': 'auto', runtime: 'auto', frontend: 'auto' } as const;
const moved = { backend: 3002, 'remote-mcp': 3004, runtime: 3005, frontend: 8889 };

test('what auto became is found again', () => {
  const installation = installationIn(dir);
  writeLease(installation, moved, auto);
  expect(leasedPorts(installation, auto)).toEqual(moved);
});

test('a port that was chosen by hand does not stay when auto takes its place again', () => {
  const installation = installationIn(dir);
  writeLease(installation, moved, auto);
  writeLease(installation, { ...moved, backend: 8080 }, { ...auto, backend: 8080 });
  expect(leasedPorts(installation, { ...auto, backend: 8080 }).backend).toBe(8080);
  expect(leasedPorts(installation, auto)).toEqual(moved);
});

test('where it was never auto, that is the usual one', () => {
  const installation = installationIn(dir);
  writeLease(installation, { ...moved, backend: 8080 }, { ...auto, backend: 8080 });
  expect(readLease(installation).backend).toBe(3000);
});
