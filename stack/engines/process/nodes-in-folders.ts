import { existsSync, readdirSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWordsAlone } from '../../../services/contracts/system-words.ts';
import type { Copying, NodePlaces, Room } from '../../graph/fill-nodes.ts';
import { provisionGraph } from '../../graph/provision-graph.ts';
import { sizeOf } from '../../machine/size-of.ts';
import { graphStartMaxMs, graphUrlOf } from '../../parts/dgraph-alpha.ts';
import { dataOf } from '../../parts/dgraph-node.ts';
import { hasNodeData, metaFileOf, readNodeData, walMeta } from '../../place/node-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { findRunning } from '../../state/find-running.ts';
import { bytesLeft } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { stopRunning } from './running-platform.ts';

export interface NodesInFolders {
  readonly plan: Plan;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Reads and copies the folders of Dgraph nodes in data/. */
export function nodesInFolders({ plan, signal, onNotice }: NodesInFolders): NodePlaces {
  const { definition, installation, secrets, site } = plan;
  const running = findRunning(installation);
  const services = running === null || running.isAbandoned ? [] : (running.record?.services ?? []);
  return {
    hasData: (node) => hasNodeData(installation, node),
    stateOf: (node) => services.find(({ name }) => name === node)?.state ?? null,
    async change(nodes) {
      const urls = nodes.map((node) => graphUrlOf(node, site));
      const caPath = secrets.graphNodeCertificate;
      await provisionGraph({ urls, caPath, secrets, force: true, timeoutMs: graphStartMaxMs(definition), signal });
    },
    async stop() {
      if (running !== null) await stopRunning(installation, running, { signal, onNotice });
    },
    roomsFor: async (copies) => roomsFor(installation, copies),
    copy: (copying) => copyNode(installation, copying, signal),
  };
}

/** One room for each file system. An unfinished copy is replaced, so its bytes count as free. */
function roomsFor(installation: Installation, copies: readonly Copying[]): readonly Room[] {
  const wanted = copies.map(({ from, to }) => {
    const [source, target] = [folderOf(installation, from), folderOf(installation, to)];
    const folder = existsSync(target) ? target : dirname(target);
    return { folder, neededBytes: contentBytes(source) - contentBytes(target) };
  });
  return [...Map.groupBy(wanted, ({ folder }) => statSync(folder).dev).values()].flatMap((ofOne) => {
    const neededBytes = ofOne.reduce((sum, one) => sum + one.neededBytes, 0);
    return ofOne.slice(0, 1).map(({ folder }) => ({
      place: `"${folder}"`,
      repair: `df -h "${folder}" tells how much there is.`,
      neededBytes,
      freeBytes: bytesLeft(statfsSync(folder), process.getuid?.() === 0),
    }));
  });
}

/** A slow disk copies about 70 GB in this time. */
const copyTimeoutMs = 60 * 60_000;
/** An interrupted cp writes for a moment longer. On a broken disk it never ends. */
const endMaxMs = 10_000;

/**
 * A node's folder may be a symbolic link or a mounted disk, and so may folders inside it. The copy contains plain folders, and the node's
 * folder itself stays.
 */
async function copyNode(installation: Installation, { from, to }: Copying, signal: AbortSignal): Promise<void> {
  const [source, target] = [folderOf(installation, from), folderOf(installation, to)];
  refuseShared(source, target);
  // A disk may have been mounted since the operator agreed.
  if (readNodeData(installation, to) !== 'gone')
    throw new SvcError('conflict', `The data of ${to} is there again.`, { hint: 'Start it: svc up' });
  const late = AbortSignal.timeout(copyTimeoutMs);
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
    await empty(target);
    await fill(target, { source, meta: metaFileOf(to), signal: AbortSignal.any([signal, late]) });
  } catch (error) {
    // An unfinished copy must not take the room that the platform needs.
    await empty(target).catch(() => undefined);
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    const reason = late.aborted ? `it did not end within ${copyTimeoutMs / 1000} s` : whyNot(error);
    throw new SvcError('unavailable', `"${source}" could not be copied to "${target}": ${reason}.`, {
      hint: 'Fix the cause, then run again: svc up --start-empty',
      cause: error,
    });
  }
}

interface FolderCopy {
  readonly source: string;
  /** Path of the node's wal.meta. */
  readonly meta: string;
  readonly signal: AbortSignal;
}

/** The folder of wal.meta is moved last: until then the data counts as gone. */
async function fill(target: string, { source, meta, signal }: FolderCopy): Promise<void> {
  // cp writes only into a new folder, which contains no link to the source.
  const draft = resolve(target, 'copy');
  await mkdir(draft, { mode: 0o700 });
  const names = contentOf(source).map((name) => `./${name}`);
  const { execa } = await import('execa');
  const copying = execa('cp', ['-aL', ...names, draft], { cwd: source, cancelSignal: signal });
  await Promise.race([copying, laterThan(signal)]);
  await forgetId(join(draft, meta));
  await syncFiles(draft, signal);
  const [last = meta] = meta.split('/');
  const others = (await readdir(draft)).filter((name) => name !== last);
  for (const name of [...others, last]) await rename(join(draft, name), join(target, name));
  await rmdir(draft);
}

/** Rejects some time after an abort. */
function laterThan(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => setTimeout(() => reject(signal.reason), endMaxMs).unref();
    signal.addEventListener('abort', giveUp, { once: true });
  });
}

/** Emptying the target must not reach the source. */
function refuseShared(source: string, target: string): void {
  if (!existsSync(target)) return;
  const [from, to] = [realpathSync(source), realpathSync(target)];
  const isInside = (inner: string, outer: string) => !/^\.\.(\/|$)/.test(relative(outer, inner));
  if (!isInside(from, to) && !isInside(to, from)) return;
  throw new SvcError('conflict', `"${target}" and "${source}" are the same folder, or one contains the other.`, {
    hint: 'Give each node a folder of its own, then repeat the command: svc up --start-empty',
  });
}

async function empty(folder: string): Promise<void> {
  for (const name of contentOf(folder)) await rm(join(folder, name), { recursive: true });
}

/** Leaves out lost+found, which only root can read. */
function contentOf(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name !== 'lost+found');
}

function contentBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  return contentOf(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
}

function folderOf({ dir }: Installation, node: string): string {
  return join(dir, dataOf(node));
}

function whyNot(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : '';
  return said || inWordsAlone(error);
}

/** The coordination nodes give a data node its id back, by its address. A coordination node gets its id from its configuration. */
async function forgetId(metaFile: string): Promise<void> {
  const file = await open(metaFile, 'r+');
  await file.write(Buffer.alloc(walMeta.idBytes), 0, walMeta.idBytes, 0).finally(() => file.close());
}

async function syncFiles(folder: string, signal: AbortSignal): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    signal.throwIfAborted();
    const file = await open(join(entry.parentPath, entry.name), 'r+');
    await file.sync().finally(() => file.close());
  }
}
