import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dataOf } from '../parts/dgraph-node.ts';
import { aloneFolder, clusterFolder } from '../parts/nats.ts';
import { readLease } from '../ports/port-lease.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnBus } from '../settings/has-own-bus.ts';
import { hasOwnGraph } from '../settings/has-own-graph.ts';
import { blobsIn, busIn, graphIn } from '../state/data-files.ts';
import { findRunning } from '../state/find-running.ts';
import type { Installation } from '../state/installation.ts';
import { type KeptData, readPlace, writePlace } from '../state/place-record.ts';
import { markData } from './data-marker.ts';
import { describeLoss } from './loss-of.ts';
import { hasNodeData, isGone, nodeKinds, nodesOf, readNodeData } from './node-data.ts';
import { type StartEmpty, settleLosses } from './settle-losses.ts';

export interface DataCheck {
  readonly installation: Installation;
  readonly definition: Definition;
  readonly startEmpty: StartEmpty | null;
  /** Whether a minority of the Dgraph nodes may be missing. False for a move, which reads every node. */
  readonly mayKeepOut: boolean;
  readonly onNotice: (message: string) => void;
}

export interface SettledData {
  /** Nodes of Dgraph to be filled with a copy of another node's data. Other nodes without data are kept out. */
  readonly copied: readonly string[];
  /** Data that the installation starts without. The caller removes its record once the start can no longer be refused. */
  readonly forgotten: readonly KeptData[];
}

/** Throws `not_found` when recorded data is missing: the platform would start empty, and look healthy. */
export async function settleLostData(check: DataCheck): Promise<SettledData> {
  const { installation, definition, startEmpty, mayKeepOut, onNotice } = check;
  const { needed, sessions } = pathsOf(definition);
  const known = knownData(installation, definition);
  const gone = known.filter(({ path }) => !isThere(installation, definition, path));
  const missing = gone.filter(({ path }) => needed.includes(path));
  if (missing.length === 0) {
    if (startEmpty !== null) onNotice('--start-empty was not needed: no data is missing.');
    if (gone.some(({ path }) => sessions.includes(path))) {
      onNotice('The data of the bus is missing: agents begin new sessions, and nothing else is lost.');
    }
    return { copied: [], forgotten: [] };
  }
  const { whole, copied } = await settleLosses({
    missing,
    definition,
    dataOfNode: (node) => readNodeData(installation, node),
    words: { tell: told, describe: describeLoss, backup: 'data/dgraph' },
    runningPid: findRunning(installation)?.pid ?? null,
    ...{ startEmpty, mayKeepOut, onNotice },
  });
  const forgotten = gone.filter((one) => whole.includes(one) || !missing.includes(one));
  return { copied, forgotten: startEmpty === null ? [] : forgotten };
}

/** Removes data from the record: the next start creates it again. */
export function forgetData(installation: Installation, { id }: Definition, forgotten: readonly KeptData[]): void {
  const known = readPlace(installation)?.data ?? [];
  const isForgotten = ({ path }: KeptData) => forgotten.some((one) => one.path === path);
  writePlace(
    installation,
    id,
    known.filter((one) => !isForgotten(one)),
  );
}

/** Names the lost paths, except paths inside another lost folder. */
function told(data: readonly KeptData[]): readonly string[] {
  const outer = data.filter(({ path }) => !data.some((other) => path.startsWith(`${other.path}/`)));
  return outer.map(({ path, since }) => `"${path}" (there since ${since})`);
}

/** The recorded data of this installation. */
export function knownData(installation: Installation, definition: Definition): readonly KeptData[] {
  const known = readPlace(installation)?.data ?? dataBefore(installation, definition);
  return [...known, ...unnamedNodes(installation, definition, known)];
}

/**
 * Nodes of Dgraph that an earlier version started: its record names their common folder and no single node. A started
 * node has a port in `state/ports.json`.
 */
function unnamedNodes(
  installation: Installation,
  definition: Definition,
  known: readonly KeptData[],
): readonly KeptData[] {
  const whole = known.find(({ path }) => path === graphIn('data', 'dgraph'));
  if (whole === undefined || definition.engine !== 'process') return [];
  if (known.some(({ path }) => path.startsWith(`${whole.path}/`))) return [];
  const ports = readLease(installation);
  return allNodes(definition).flatMap(({ node, path }) => (node in ports ? [{ path, since: whole.since }] : []));
}

/** Records the data of a platform that has just started, so that its loss is noticed. */
export function recordData(installation: Installation, definition: Definition): void {
  markData(installation, definition);
  const { needed } = pathsOf(definition);
  // A node without its data stays recorded, so that it still counts as lost.
  const missed = (readPlace(installation)?.data ?? []).filter(
    ({ path }) => needed.includes(path) && !isThere(installation, definition, path),
  );
  writePlace(installation, definition.id, [...dataThere(installation, definition), ...missed]);
}

/** Records new data. Missing data stays recorded: it was lost while the platform ran. */
export function recordNewData(installation: Installation, definition: Definition): void {
  const before = readPlace(installation)?.data ?? [];
  const fresh = dataThere(installation, definition).filter(({ path }) => !before.some((one) => one.path === path));
  writePlace(installation, definition.id, [...before, ...fresh]);
}

function dataThere(installation: Installation, definition: Definition): readonly KeptData[] {
  const { needed, sessions } = pathsOf(definition);
  const before = readPlace(installation)?.data ?? [];
  const now = new Date().toISOString();
  return [...needed, ...sessions]
    .filter((path) => isThere(installation, definition, path))
    .map((path) => before.find((one) => one.path === path) ?? { path, since: now });
}

interface Paths {
  readonly needed: readonly string[];
  /** Without it agents begin new sessions. */
  readonly sessions: readonly string[];
}

/** The files and folders for the data of a definition. */
function pathsOf(definition: Definition): Paths {
  const { topology, graph, bus, replicas } = definition;
  const nodes = replicas.nats === 1 ? aloneFolder : clusterFolder;
  const busPath = topology === 'embedded' ? busIn('data', topology) : join('data', nodes);
  const hasBus = topology === 'embedded' ? bus.persistentMessaging : hasOwnBus(definition);
  const ownBus = hasBus ? [busPath] : [];
  if (graph === 'sqlite') return { needed: [graphIn('data', graph), blobsIn('data')], sessions: ownBus };
  // With Dgraph the bus stores the files of skills.
  const ownGraph = hasOwnGraph(definition)
    ? [graphIn('data', graph), ...allNodes(definition).map(({ path }) => path)]
    : [];
  return { needed: [...ownGraph, ...ownBus], sessions: [] };
}

function allNodes(definition: Definition) {
  return nodeKinds.flatMap((kind) => nodesOf(kind, definition).map((node) => ({ node, path: dataOf(node) })));
}

/** An empty file or folder is a disk that is not mounted; only the folder of files may be empty. */
function isThere(installation: Installation, definition: Definition, path: string): boolean {
  const { dir } = installation;
  const own = allNodes(definition).find((one) => one.path === path);
  if (own !== undefined) return hasNodeData(installation, own.node);
  try {
    const found = statSync(join(dir, path));
    if (!found.isDirectory()) return found.size > 0;
    return path === blobsIn('data') || readdirSync(join(dir, path)).length > 0;
  } catch (error) {
    // Data that cannot be read is not missing: its part reports the error.
    return !isGone(error);
  }
}

/**
 * For an installation of an earlier version: ports are recorded after a successful start, and then a graph is in data/.
 */
function dataBefore(installation: Installation, definition: Definition): readonly KeptData[] {
  const { graph } = definition;
  const isOther = graph === 'sqlite' ? 'dgraph' : 'sqlite';
  if (Object.keys(readLease(installation)).length === 0) return [];
  if (isThere(installation, definition, graphIn('data', isOther))) return [];
  const { mtime } = statSync(join(installation.stateDir, 'ports.json'));
  return [{ path: graphIn('data', graph), since: mtime.toISOString() }];
}
