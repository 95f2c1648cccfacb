import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dataOf } from '../parts/dgraph.ts';
import { aloneFolder, clusterFolder } from '../parts/nats.ts';
import { type Definition, hasOwnBus, hasOwnGraph } from '../settings/definition.ts';
import { nodesOf } from '../settings/ports.ts';
import { blobsIn, busIn, graphIn } from '../state/data-files.ts';
import type { Installation } from '../state/installation.ts';
import { type KeptData, readPlace, writePlace } from '../state/place-record.ts';
import { describeLoss, judgeLosses, type Loss, type Losses } from './losses.ts';
import { isGone, kindOf, nodeKinds, readNodeData } from './node-data.ts';
import { markData } from './settle-place.ts';

/** The recorded data in data/ that a definition needs and that is gone. */
export function findLosses(installation: Installation, definition: Definition): Losses {
  const { needed } = pathsOf(definition);
  const found = keptData(installation).flatMap((data) => {
    return needed.includes(data.path) ? (lossOf(installation, data) ?? []) : [];
  });
  const losses = found.filter(({ place }) => !found.some((other) => place.startsWith(`${other.place}/`)));
  const hasData = (node: string) => readNodeData(installation, node) === 'present';
  return judgeLosses(losses, definition, hasData);
}

/** Whether the recorded sessions are gone: agents begin new ones. */
export function hasLostSessions(installation: Installation, definition: Definition): boolean {
  const { sessions } = pathsOf(definition);
  return keptData(installation).some(({ path }) => sessions.includes(path) && !isThere(installation, path));
}

/** Why a node of Dgraph is not started: its recorded data is missing or cannot be read. Null for every other part. */
export function describeNodeLoss(installation: Installation, part: string): string | null {
  if (kindOf(part) === null) return null;
  const data = keptData(installation).find(({ path }) => path === dataOf(part));
  const loss = data === undefined ? null : lossOf(installation, data);
  return loss === null ? null : describeLoss(loss);
}

function lossOf(installation: Installation, { path, since }: KeptData): Loss | null {
  if (isThere(installation, path)) return null;
  const node = nodeAt(path);
  const data = node === null ? 'gone' : readNodeData(installation, node);
  const isUnreadable = typeof data === 'object';
  return {
    place: path,
    words: `"${path}" (${isUnreadable ? data.unreadable : `there since ${since}`})`,
    node,
    isUnreadable,
  };
}

/** Removes data from the record: the next start creates it again. */
export function forgetData(installation: Installation, { id }: Definition, paths: readonly string[]): void {
  const isForgotten = ({ path }: KeptData) => paths.some((one) => path === one || path.startsWith(`${one}/`));
  const kept = keptData(installation).filter((one) => !isForgotten(one));
  writePlace(installation, id, kept);
}

/** Records the data of a platform, so that its loss is noticed. Missing data stays recorded, so that it still counts as lost. */
export function recordData(installation: Installation, definition: Definition): void {
  markData(installation, definition);
  const { needed, sessions } = pathsOf(definition);
  const before = keptData(installation);
  const since = new Date().toISOString();
  const data = [...needed, ...sessions].flatMap((path) => {
    const known = before.find((one) => one.path === path);
    return known ?? (isThere(installation, path) ? { path, since } : []);
  });
  writePlace(installation, definition.id, data);
}

function keptData(installation: Installation): readonly KeptData[] {
  return readPlace(installation)?.data ?? [];
}

/** The files and folders for the data of a definition. Without those of sessions, agents begin new ones. */
function pathsOf(definition: Definition) {
  const { topology, graph, bus, replicas } = definition;
  const busPath =
    topology === 'embedded' ? busIn('data', topology) : join('data', replicas.nats === 1 ? aloneFolder : clusterFolder);
  const hasBus = topology === 'embedded' ? bus.persistentMessaging : hasOwnBus(definition);
  const ownBus = hasBus ? [busPath] : [];
  if (graph === 'sqlite') return { needed: [graphIn('data', graph), blobsIn('data')], sessions: ownBus };
  // With Dgraph the bus stores the files of skills.
  const nodes = nodeKinds.flatMap((kind) => nodesOf(kind, definition));
  const ownGraph = hasOwnGraph(definition) ? [graphIn('data', graph), ...nodes.map(dataOf)] : [];
  return { needed: [...ownGraph, ...ownBus], sessions: [] };
}

function nodeAt(path: string): string | null {
  const node = `dgraph-${basename(path)}`;
  return kindOf(node) !== null && dataOf(node) === path ? node : null;
}

/** An empty file or folder is a disk that is not mounted; only the folder of files may be empty. */
function isThere(installation: Installation, path: string): boolean {
  const node = nodeAt(path);
  if (node !== null) return readNodeData(installation, node) === 'present';
  const full = join(installation.dir, path);
  try {
    const found = statSync(full);
    if (!found.isDirectory()) return found.size > 0;
    return path === blobsIn('data') || readdirSync(full).length > 0;
  } catch (error) {
    // Data that cannot be read is not missing: its part reports the error.
    return !isGone(error);
  }
}
