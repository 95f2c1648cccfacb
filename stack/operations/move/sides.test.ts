import fs, { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Installation, installationIn } from '../../state/installation.ts';
import { type MoveState, readMove, writeMove } from './move-state.ts';
import type { Side } from './side.ts';
import { removeKept, restoreSide, switchSides } from './sides.ts';

type Files = Readonly<Record<string, string>>;

interface Case {
  readonly from: Side;
  readonly to: Side;
  /** What is there when everything was carried and verified, beside svc.yaml. */
  readonly carried: Files;
  /** What of it is there once it is moved. */
  readonly moved: Files;
  /** What is written then. */
  readonly since: Files;
  /** What is there again once it is undone. */
  readonly undone: Files;
}

const inOne: Side = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
const apart: Side = { ...inOne, topology: 'distributed' };
const onDgraph: Side = { ...apart, graph: 'dgraph' };
const inContainers: Side = { ...apart, engine: 'docker' };
const kept = 'data/before-move-then';

/** In one process. A log is there where whoever wrote it was killed. */
const oneWithoutLog = {
  'data/bus.sqlite': 'bus',
  'data/bus.sqlite-wal': 'its log',
  'data/graph.sqlite': 'graph',
  'data/blobs/a': 'a file',
  'data/runtime/homes/notes': 'notes',
};
const one = { ...oneWithoutLog, 'data/graph.sqlite-wal': 'its log' };

const cases: readonly (readonly [string, Case])[] = [
  [
    'a graph that stays the file that it is',
    {
      from: inOne,
      to: apart,
      carried: {
        ...one,
        'data/moving/nats/x': 'bus',
        [`${kept}/graph.sqlite`]: 'graph and its log',
        [`${kept}/blobs/a`]: 'a file',
      },
      moved: {
        'data/nats/x': 'bus',
        'data/graph.sqlite': 'graph',
        'data/graph.sqlite-wal': 'its log',
        'data/blobs/a': 'a file',
        'data/runtime/homes/notes': 'notes',
      },
      since: { 'data/graph.sqlite': 'another', 'data/graph.sqlite-wal': 'its own log', 'data/blobs/b': 'another' },
      undone: { ...oneWithoutLog, 'data/graph.sqlite': 'graph and its log' },
    },
  ],
  [
    'a graph that comes where another one was of an earlier time',
    {
      from: onDgraph,
      to: apart,
      carried: {
        'data/dgraph/p': 'graph',
        'data/nats/x': 'bus',
        'data/graph.sqlite': 'earlier',
        'data/graph.sqlite-wal': 'its log',
        'data/blobs/earlier': 'earlier',
        'data/moving/graph.sqlite': 'graph',
        'data/moving/blobs/a': 'a file',
      },
      moved: { 'data/nats/x': 'bus', 'data/graph.sqlite': 'graph', 'data/blobs/a': 'a file' },
      since: { 'data/graph.sqlite-wal': 'its own log', 'data/dgraph/new': 'made anew, for nobody' },
      undone: { 'data/nats/x': 'bus', 'data/dgraph/p': 'graph' },
    },
  ],
  [
    'into containers',
    {
      from: inOne,
      to: inContainers,
      carried: one,
      moved: {},
      since: { 'state/containers.json': 'volumes', 'data/graph.sqlite-shm': 'made anew, for nobody' },
      undone: one,
    },
  ],
  [
    'out of containers',
    {
      from: inContainers,
      to: inOne,
      carried: {
        'state/containers.json': 'volumes',
        'data/moving/bus.sqlite': 'bus',
        'data/moving/graph.sqlite': 'graph',
        'data/moving/blobs/a': 'a file',
        'data/moving/runtime/homes/notes': 'notes',
      },
      moved: {
        'data/bus.sqlite': 'bus',
        'data/graph.sqlite': 'graph',
        'data/blobs/a': 'a file',
        'data/runtime/homes/notes': 'notes',
      },
      since: { 'data/graph.sqlite-wal': 'its own log', 'data/runtime/homes/notes': 'more' },
      undone: { 'state/containers.json': 'volumes' },
    },
  ],
];

let installation: Installation;
beforeEach(() => {
  installation = installationIn(mkdtempSync(join(tmpdir(), 'svc-sides-')));
});
afterEach(() => {
  revive();
  rmSync(installation.dir, { recursive: true, force: true });
});

describe.each(cases)('%s', (_what, { from, to, carried, moved, since, undone }) => {
  const state: MoveState = {
    ...{ phase: 'switching', isCleared: false, from, to, kept, startedAt: 'then', wasRunning: false, processes: [] },
    ...{ elsewhere: { left: null, filled: null }, docker: null, folders: ['runtime'], moved: [] },
  };
  const before = definitionOf(from);

  /** Begins with what was carried, in an empty folder. */
  function begin(): void {
    rmSync(installation.dir, { recursive: true, force: true });
    mkdirSync(installation.dir);
    put({ ...carried, 'svc.yaml': before, [`${kept}/svc.yaml`]: before });
    mkdirSync(installation.stateDir, { recursive: true });
    writeMove(installation, state);
  }

  function finish(): void {
    const now = readMove(installation);
    if (now?.phase === 'switching') switchSides(installation, now, () => undefined);
    if (now?.phase !== 'undoing') return;
    restoreSide(installation, now, () => undefined);
    removeKept(installation, now);
  }

  test('killed anywhere while it takes its place, all of it does', () => {
    const count = everyDeath(begin, finish, () => {
      expect(filesIn('data', 'state')).toEqual(moved);
      expect(readFileSync(installation.definitionFile, 'utf8')).toBe(definitionOf(to));
      expect(readMove(installation)).toEqual({ ...state, phase: 'moved' });
    });
    expect(count).toBeGreaterThan(3);
  });

  test('killed anywhere while it is undone, all is as it was', () => {
    const beginUndo = () => {
      begin();
      finish();
      put(since);
      writeMove(installation, { ...state, phase: 'undoing' });
    };
    const count = everyDeath(beginUndo, finish, () => {
      expect(filesIn('data', 'state')).toEqual(undone);
      expect(readFileSync(installation.definitionFile, 'utf8')).toBe(before);
      expect(readMove(installation)).toBeNull();
    });
    expect(count).toBeGreaterThan(3);
  });
});

const { renameSync, rmSync: remove } = fs;

/** Does the work over and over, killed at its first change of the disk, its second, and so on, and finishes it each time. Returns how many there are. */
function everyDeath(begin: () => void, work: () => void, check: () => void): number {
  for (let at = 0; ; at += 1) {
    begin();
    dieAt(at);
    let died = false;
    try {
      work();
    } catch (error) {
      if (error !== death) throw error;
      died = true;
    }
    revive();
    work();
    check();
    if (!died) return at;
  }
}

const death = new Error('killed');

/** From then on nothing of this process changes the disk any more. */
function dieAt(change: number): void {
  let left = change;
  const alive = () => {
    left -= 1;
    if (left < 0) throw death;
  };
  fs.renameSync = (...paths) => {
    alive();
    renameSync(...paths);
  };
  fs.rmSync = (...path) => {
    alive();
    remove(...path);
  };
  syncBuiltinESMExports();
}

function revive(): void {
  Object.assign(fs, { renameSync, rmSync: remove });
  syncBuiltinESMExports();
}

function definitionOf({ topology, graph, engine }: Side): string {
  return `id: abcdefghijklmnop\ntopology: ${topology}\ngraph: ${graph}\nengine: ${engine}\n`;
}

function put(files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(installation.dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** All files in these folders but for what only a move knows. */
function filesIn(...folders: readonly string[]): Files {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(installation.dir, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    ),
  );
  const files = paths.filter(
    (path) =>
      statSync(join(installation.dir, path)).isFile() &&
      !path.startsWith(kept) &&
      !/^state\/move\.json|\.draft$/.test(path),
  );
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(installation.dir, path), 'utf8')]));
}
