import { execFile } from 'node:child_process';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Installation } from '../installation.ts';
import { type Plan, readPlan } from '../lifecycle/plan.ts';
import { stopRunning } from '../lifecycle/running-platform.ts';
import { findRunning, type RunningPlatform } from '../state/find-running.ts';
import { dataOf, graphUrlsOf } from './graph-parts.ts';
import { hasNodeData, kindOf, metaFileOf, type NodeKind, nodesOf } from './node-data.ts';
import { writeUsers } from './provision-graph.ts';

export interface Filling {
  readonly installation: Installation;
  /** Nodes that lost their data. */
  readonly nodes: readonly string[];
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/**
 * Gives nodes that lost their data a copy of another node's, while nothing runs. The copy has all that was acknowledged: of two nodes because
 * both acknowledge everything, of three because the other two have acknowledged a change without the lost one.
 */
export async function fillNodes({ installation, nodes, signal, onNotice }: Filling): Promise<void> {
  const plan = readPlan(installation);
  const running = findRunning(installation);
  if (nodes.some((node) => othersOf(node, plan).length > 1)) await proveOthers(plan, nodes, running, signal);
  if (running !== null) await stopRunning(installation, running, { signal, onNotice });
  for (const node of nodes) {
    const [other] = othersOf(node, plan);
    if (other === undefined) throw new Error(`no node has the data of ${node}`);
    await copyNode(installation, { from: other, to: node }, signal);
    onNotice(`${node} has a copy of the data of ${other}.`);
  }
}

/** Of its kind, with data. */
function othersOf(node: string, { installation, definition }: Plan): readonly string[] {
  const kind = kindOf(node);
  if (kind === null) return [];
  return nodesOf(kind, definition).filter((other) => other !== node && hasNodeData(installation, kind, other));
}

/**
 * Two of three nodes may lag behind each other while the third one votes. One change that is acknowledged without it is on both, with all that
 * came before: Dgraph stores each change at its nodes of coordination and at its data nodes.
 */
async function proveOthers(
  { parts, secrets, definition }: Plan,
  lost: readonly string[],
  running: RunningPlatform | null,
  signal: AbortSignal,
): Promise<void> {
  const services = running === null || running.isAbandoned ? [] : (running.record?.services ?? []);
  const stateOf = (node: string) => services.find(({ name }) => name === node)?.state;
  const kinds = new Set(lost.map(kindOf).filter((kind) => kind !== null));
  const others = [...kinds]
    .flatMap((kind: NodeKind) => nodesOf(kind, definition))
    .filter((node) => !lost.includes(node));
  const wrong = [
    ...lost.filter((node) => stateOf(node) !== 'lost').map((node) => `${node} is not kept out`),
    ...others.filter((node) => stateOf(node) !== 'healthy').map((node) => `${node} is not healthy`),
  ];
  if (wrong.length > 0) {
    throw new SvcError('conflict', `The data of ${lost.join(' and ')} cannot be copied yet: ${wrong.join(', ')}.`, {
      hint: 'Start the platform without these nodes, then repeat the command: svc down, svc up, svc up --start-empty',
    });
  }
  const dataNodes = parts.filter(({ name, service }) => service === 'dgraph-alpha' && !lost.includes(name));
  await writeUsers({ urls: graphUrlsOf(dataNodes), caPath: secrets.graphNodeCertificate, secrets, signal });
}

/** What says that there is data comes last: until then the data counts as gone. The folder itself stays: a disk may be mounted there. */
async function copyNode(installation: Installation, { from, to }: Copying, signal: AbortSignal): Promise<void> {
  const source = join(installation.dir, dataOf(from));
  const target = join(installation.dir, dataOf(to));
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const name of await readdir(target)) await rm(join(target, name), { recursive: true });
  const draft = join(target, 'copy');
  await promisify(execFile)('cp', ['-a', source, draft], { signal }).catch((error: unknown) => {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw notCopied(source, error);
  });
  const meta = metaFileOf(kindOf(to) ?? 'dgraph-alpha');
  await forgetId(join(draft, meta));
  await syncFiles(draft);
  const [last = meta] = meta.split('/');
  const others = (await readdir(draft)).filter((name) => name !== last);
  for (const name of [...others, last]) await rename(join(draft, name), join(target, name));
  await rmdir(draft);
}

function notCopied(source: string, cause: unknown): SvcError {
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n').at(-1) : null;
  return new SvcError('unavailable', `"${source}" could not be copied: ${said ?? 'cp did not say why'}.`, {
    hint: 'Mend that, then repeat the command: svc up --start-empty',
    cause,
  });
}

interface Copying {
  readonly from: string;
  readonly to: string;
}

/** The id of a node in its Raft group comes first in Dgraph's wal.meta. */
const idBytes = 8;

/** Of a data node the coordination nodes know the id by its address; a node of coordination is told its own. */
async function forgetId(metaFile: string): Promise<void> {
  const file = await open(metaFile, 'r+');
  await file.write(Buffer.alloc(idBytes), 0, idBytes, 0).finally(() => file.close());
}

async function syncFiles(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = await open(join(entry.parentPath, entry.name), 'r+');
    await file.sync().finally(() => file.close());
  }
}
