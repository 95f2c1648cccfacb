import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Installation, installationIn } from '../../state/installation.ts';
import { acquireLock } from '../../state/lock.ts';
import { describeInterruptedMove } from './interrupted-move.ts';
import { type MoveState, readMove, writeMove } from './move-state.ts';

let installation: Installation;
beforeEach(() => {
  installation = installationIn(mkdtempSync(join(tmpdir(), 'svc-state-')));
  mkdirSync(installation.stateDir);
});
afterEach(() => rmSync(installation.dir, { recursive: true }));

const state: MoveState = {
  phase: 'preparing',
  isCleared: true,
  from: { topology: 'embedded', graph: 'sqlite', engine: 'process' },
  to: { topology: 'distributed', graph: 'dgraph', engine: 'process' },
  startedAt: '2026-01-01T00:00:00.000Z',
  kept: 'data/before-move-2026-01-01T00-00-00Z',
  wasRunning: true,
  processes: [{ name: 'nats', process: { pid: 1, startTime: 'then' } }],
  elsewhere: { left: null, filled: 'https://dgraph.example.com:8080' },
  docker: { socket: '/run/docker.sock', volumes: ['svc-1-nats'], isBusy: true },
  folders: ['runtime'],
  moved: [],
};

test('a move is read as it was written, and where there is none there is none', () => {
  expect(readMove(installation)).toBeNull();
  writeMove(installation, state);
  expect(readMove(installation)).toEqual(state);
});

test('one of a version that knew only processes is read as one of these', () => {
  const { isCleared, docker, folders, ...older } = state;
  const [from, to] = [older.from, older.to].map(({ topology, graph }) => ({ topology, graph }));
  writeFileSync(join(installation.stateDir, 'move.json'), JSON.stringify({ ...older, from, to }));
  expect(readMove(installation)).toEqual({ ...state, isCleared: false, docker: null, folders: [] });
});

test.each([
  ['of another version', JSON.stringify({ ...state, from: 'embedded', to: 'distributed', bus: null })],
  ['that is damaged', '{'],
])('one %s is not taken for none', (_what, text) => {
  writeFileSync(join(installation.stateDir, 'move.json'), text);
  expect(() => readMove(installation)).toThrow(
    expect.objectContaining({ code: 'unsupported', hint: expect.stringContaining('svc move --undo') }),
  );
});

test.each([
  ['preparing', 'was interrupted: svc up takes it back.'],
  ['switching', 'was interrupted: svc up finishes it.'],
  ['confirming', 'was interrupted: svc up finishes it.'],
  ['undoing', 'was interrupted: svc up finishes it.'],
] as const)('a move that was cut short while %s is named, unless a command is at work on it', (phase, end) => {
  expect(describeInterruptedMove(installation)).toBeNull();
  writeMove(installation, { ...state, phase });
  expect(describeInterruptedMove(installation)).toMatch(
    /^The move from .* to .* that began at 2026-01-01T00:00:00.000Z /,
  );
  expect(describeInterruptedMove(installation)).toContain(end);
  const lock = acquireLock(installation, 'command');
  expect(describeInterruptedMove(installation)).toBeNull();
  lock.release();
});

test('a move that waits to be confirmed is not interrupted, and one of another version is named as such', () => {
  writeMove(installation, { ...state, phase: 'moved' });
  expect(describeInterruptedMove(installation)).toBeNull();
  writeFileSync(join(installation.stateDir, 'move.json'), '{"phase":"flying"}');
  expect(describeInterruptedMove(installation)).toContain('another version');
});
