import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  forgetReplacement,
  type Replacement,
  readReplacement,
  writeReplacement,
} from '../../operations/replace/replacement.ts';
import { type Installation, installationIn } from '../../state/installation.ts';

const side = { topology: 'embedded', graph: 'sqlite', engine: 'process' } as const;
const record: Replacement = {
  command: 'restore',
  step: 'confirming',
  from: side,
  to: side,
  startedAt: '2026-11-25T23:51:47.120Z',
  kept: 'data/before-restore-2026-11-25T23-51-47Z',
  wasRunning: false,
  replaced: { bus: true, graph: true, blobs: true },
  archived: { bus: false, graph: true, blobs: true },
  folders: ['runtime', 'caddy-2'],
  elsewhere: { left: null, filled: null },
  moved: [],
};

let installation: Installation;
beforeEach(() => {
  installation = installationIn(mkdtempSync(join(tmpdir(), 'svc-replacement-')));
  mkdirSync(installation.stateDir);
});
afterEach(() => rmSync(installation.dir, { recursive: true }));

test('a record is read unchanged, and its removal removes the folder', () => {
  mkdirSync(join(installation.dir, record.kept), { recursive: true });
  writeReplacement(installation, record);
  expect(readReplacement(installation)).toEqual(record);
  forgetReplacement(installation, record);
  expect(readReplacement(installation)).toBeNull();
  expect(existsSync(join(installation.dir, record.kept))).toBe(false);
});

test.each<[string, Partial<Replacement>]>([
  ['a folder outside of the installation', { kept: '../other' }],
  ['an absolute folder', { kept: '/etc' }],
  ['all data', { kept: 'data' }],
  ['a folder that leads out', { kept: 'data/before-restore-x/../../..' }],
  ["a part's folder that leads out", { folders: ['../../other'] }],
  ['a time with control characters', { startedAt: '2026\u001b[2J' }],
])('a record with %s is refused', (_what, change) => {
  writeFileSync(join(installation.stateDir, 'replacement.json'), JSON.stringify({ ...record, ...change }));
  expect(() => readReplacement(installation)).toThrow('"state/replacement.json" is damaged, or of another version.');
});
