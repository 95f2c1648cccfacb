import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { aloneFolder, carriedFolder, clusterFolder } from '../bus/bus-folders.ts';
import { hasOwnBus } from '../bus/has-own-bus.ts';
import type { Definition } from '../definition/definition.ts';
import { hasOwnGraph } from '../graph/has-own-graph.ts';
import type { Installation } from '../installation.ts';
import { blobsIn, busIn, graphIn } from '../move/sides.ts';
import { readLease } from '../ports/port-lease.ts';
import { findRunning } from '../state/find-running.ts';
import { markData } from './data-marker.ts';
import { type KeptData, readPlace, writePlace } from './place-record.ts';

/** Asked with the names of all data that is gone, before anything is started without it. Throws where it shall not be. */
export type StartEmpty = (gone: readonly string[]) => Promise<void>;

export interface DataCheck {
  readonly installation: Installation;
  readonly definition: Definition;
  readonly startEmpty: StartEmpty | null;
  readonly onNotice: (message: string) => void;
}

/** Throws `not_found` where data is gone that this installation had: it would start empty, and look healthy. */
export async function refuseVanishedData(check: DataCheck): Promise<void> {
  const { installation, definition, startEmpty, onNotice } = check;
  if (definition.engine === 'docker') return;
  const { needed, sessions } = pathsOf(installation, definition);
  const known = knownData(installation, definition);
  const gone = known.filter(({ path }) => !isThere(installation, path));
  const missing = gone.filter(({ path }) => needed.includes(path));
  if (missing.length === 0) {
    if (startEmpty !== null) onNotice('--start-empty was not needed: no data is gone.');
    if (gone.some(({ path }) => sessions.includes(path))) {
      onNotice('The data of the bus is gone: agents begin new sessions, and nothing else is lost.');
    }
    return;
  }
  const running = findRunning(installation);
  if (startEmpty === null || running !== null) throw vanished(missing.map(told), running?.pid ?? null);
  await startEmpty(missing.map(told));
  writePlace(
    installation,
    definition.id,
    known.filter((one) => !gone.includes(one)),
  );
}

function told({ path, since }: KeptData): string {
  return `"${path}" (there since ${since})`;
}

export function vanished(gone: readonly string[], pid: number | null): SvcError {
  return new SvcError('not_found', `Data of this installation is gone: ${gone.join(' and ')}.`, {
    hint:
      pid === null
        ? 'Mount the disk that holds it, or restore it from a backup. To start without it: svc up --start-empty'
        : `The platform (pid ${pid}) still has the data open. Export what you need, then run svc down.`,
  });
}

/** The data that this installation had when it was last looked at. */
export function knownData(installation: Installation, definition: Definition): readonly KeptData[] {
  return readPlace(installation)?.data ?? dataBefore(installation, definition);
}

/** Records which data a platform that has just started has, so that its loss is noticed. */
export function recordData(installation: Installation, definition: Definition): void {
  markData(installation, definition);
  writePlace(installation, definition.id, dataThere(installation, definition));
}

/** Adds what was made since. What is missing by now stays recorded: it was lost while the platform ran. */
export function recordNewData(installation: Installation, definition: Definition): void {
  const before = readPlace(installation)?.data ?? [];
  const fresh = dataThere(installation, definition).filter(({ path }) => !before.some((one) => one.path === path));
  writePlace(installation, definition.id, [...before, ...fresh]);
}

function dataThere(installation: Installation, definition: Definition): readonly KeptData[] {
  const { needed, sessions } = pathsOf(installation, definition);
  const before = readPlace(installation)?.data ?? [];
  const now = new Date().toISOString();
  return [...needed, ...sessions]
    .filter((path) => isThere(installation, path))
    .map((path) => before.find((one) => one.path === path) ?? { path, since: now });
}

interface Paths {
  readonly needed: readonly string[];
  /** Without it agents begin new sessions. */
  readonly sessions: readonly string[];
}

/** What svc.yaml asks for keeps its data in these files and folders. */
function pathsOf({ dataDir }: Installation, definition: Definition): Paths {
  const { topology, graph, bus, replicas } = definition;
  const nodes = replicas.nats === 1 ? aloneFolder : clusterFolder;
  const busPath = topology === 'embedded' ? busIn('data', topology) : join('data', nodes);
  const hasBus = topology === 'embedded' ? bus.persistentMessaging : hasOwnBus(definition);
  const isCarried = existsSync(join(dataDir, carriedFolder));
  const ownBus = hasBus && !isCarried ? [busPath] : [];
  if (graph === 'sqlite') return { needed: [graphIn('data', graph), blobsIn('data')], sessions: ownBus };
  // With Dgraph the bus keeps the files of skills.
  return { needed: [...(hasOwnGraph(definition) ? [graphIn('data', graph)] : []), ...ownBus], sessions: [] };
}

/** An empty file or folder is a disk that is not mounted; only the folder of files may be empty. */
function isThere({ dir }: Installation, path: string): boolean {
  const found = statSync(join(dir, path), { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) return found.size > 0;
  return path === blobsIn('data') || readdirSync(join(dir, path)).length > 0;
}

/** Of an installation that an earlier version started: ports are recorded once a start succeeded, and a graph lies in data/ from then on. */
function dataBefore(installation: Installation, { graph }: Definition): readonly KeptData[] {
  const isOther = graph === 'sqlite' ? 'dgraph' : 'sqlite';
  if (Object.keys(readLease(installation)).length === 0 || isThere(installation, graphIn('data', isOther))) return [];
  const { mtime } = statSync(join(installation.stateDir, 'ports.json'));
  return [{ path: graphIn('data', graph), since: mtime.toISOString() }];
}
