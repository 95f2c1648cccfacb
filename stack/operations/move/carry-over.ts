import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { type BlobsContent, carryBlobs, readBlobs } from '../../../services/backend/files/content.ts';
import { openBlobsContent } from '../../../services/backend/files/open-content.ts';
import { carryContent, type KindOfContent, readContent } from '../../../services/backend/graph/content.ts';
import { copyGraph, openGraphContent } from '../../../services/backend/graph/open-content.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { type CarriedBus, carryBus, verifyBus } from '../../content/carry-bus.ts';
import { makeNewVolumes } from '../../engines/docker/new-volumes.ts';
import { blobsIn, graphIn } from '../../state/data-files.ts';
import { carryFolders } from './carry-folders.ts';
import { stagingDirOf } from './move-state.ts';
import type { MovePlan } from './plan-move.ts';
import { isSameBus } from './side.ts';
import { withSide } from './side-content.ts';
import type { PlaceOptions } from './side-place.ts';

export interface Carrying extends Pick<PlaceOptions, 'env' | 'born' | 'signal'> {
  readonly plan: MovePlan;
}

/** What was read of the old side, to be found again on the new one. */
export interface Carried {
  readonly bus: CarriedBus | null;
  readonly graph: readonly KindOfContent[];
  readonly blobs: BlobsContent | null;
}

/** A graph that stays the file that it is is copied to what is kept, with the files it speaks of; returns what the copy holds. */
export async function keepGraph({ plan, signal }: Carrying, kept: string): Promise<readonly KindOfContent[]> {
  const file = graphIn(plan.installation.dataDir, 'sqlite');
  if (!staysFile(plan) || !existsSync(file)) return [];
  const copy = graphIn(kept, 'sqlite');
  await copyGraph(file, copy);
  const files = await keepBlobs(blobsIn(plan.installation.dataDir), blobsIn(kept), signal);
  return [...(await contentOf(copy)), ...files];
}

/** Makes of the new side what has to be carried, where nobody looks for it yet. */
export async function carryOver(carrying: Carrying): Promise<Carried> {
  const { plan, ...shared } = carrying;
  const { installation, carries } = plan;
  const staging = stagingDirOf(installation);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  const { daemon } = plan;
  if (daemon !== null && plan.to.definition.engine === 'docker') {
    await makeNewVolumes({ plan: plan.to, daemon, signal: shared.signal });
  }
  await carryFolders(plan, shared.signal);
  const old = { ...shared, plan: plan.from, daemon, dir: installation.dataDir, wanted: carries, to: 'read' } as const;
  return await withSide(old, async (from) => {
    const wanted = { bus: from.bus !== null, graph: from.graph !== null, blobs: from.blobs !== null };
    if (!Object.values(wanted).includes(true)) return { bus: null, graph: [], blobs: null };
    const fresh = { ...shared, ...newSideOf(plan), wanted, to: 'fill' } as const;
    return await withSide(fresh, async (to) => {
      const bus = from.bus !== null && to.bus !== null ? await carryBus(from.bus, to.bus) : null;
      const { blobs: old, graph: read } = from;
      const blobs = old !== null && to.blobs !== null ? await carryBlobs(old, to.blobs, shared.signal) : null;
      if (read === null || to.graph === null) return { bus, graph: [], blobs };
      return { bus, graph: await carryContent(read, to.graph, shared.signal), blobs };
    });
  });
}

/** Opened anew: what is read is what will be found. Throws where it is not what was read of the old side. */
export async function verifyCarried(carrying: Carrying, carried: Carried): Promise<readonly KindOfContent[]> {
  const { plan, ...shared } = carrying;
  const wanted = { bus: carried.bus !== null, graph: carried.graph.length > 0, blobs: carried.blobs !== null };
  if (!Object.values(wanted).includes(true)) return [];
  const fresh = { ...shared, ...newSideOf(plan), wanted, to: 'read' } as const;
  return await withSide(fresh, async (there) => {
    const graph = there.graph === null ? [] : await readContent(there.graph, shared.signal);
    refuseDifferent(carried.graph, graph);
    const bus = carried.bus === null || there.bus === null ? [] : await verifyBus(carried.bus, there.bus);
    const blobs = there.blobs === null ? [] : filesAs(await readBlobs(there.blobs));
    refuseDifferent(carried.blobs === null ? [] : filesAs(carried.blobs), blobs);
    return [...graph, ...bus, ...blobs];
  });
}

/** Throws where a graph that stays the file that it is is not what was kept of it. */
export async function verifyKept({ plan }: Carrying, kept: readonly KindOfContent[]): Promise<void> {
  if (!staysFile(plan)) return;
  const file = graphIn(plan.installation.dataDir, 'sqlite');
  const graph = kept.filter(({ kind }) => kind !== filesKind);
  refuseDifferent(graph, existsSync(file) ? await contentOf(file) : []);
}

function staysFile({ carries, from, to }: MovePlan): boolean {
  return !carries.graph && [from, to].every(({ definition }) => definition.engine === 'process');
}

/** A bus that both sides have is not made anew. */
function newSideOf({ to, from, installation, daemon }: MovePlan) {
  const dir = stagingDirOf(installation);
  return { plan: to, daemon, dir, busDir: isSameBus(from.definition, to.definition) ? installation.dataDir : dir };
}

async function keepBlobs(from: string, to: string, signal: AbortSignal): Promise<readonly KindOfContent[]> {
  if (!existsSync(from)) return [];
  await using old = await openBlobsContent({ engine: 'folder', dir: from });
  await using copy = await openBlobsContent({ engine: 'folder', dir: to });
  return filesAs(await carryBlobs(old.blobs, copy.blobs, signal));
}

const filesKind = 'files';

/** As one kind of what is carried. */
function filesAs({ count, digest }: BlobsContent): readonly KindOfContent[] {
  return count === 0 ? [] : [{ kind: filesKind, count, digest }];
}

function refuseDifferent(expected: readonly KindOfContent[], found: readonly KindOfContent[]): void {
  const differing = expected.find(({ kind, count, digest }) => {
    const same = found.find((other) => other.kind === kind);
    return same?.count !== count || same.digest !== digest;
  });
  if (differing === undefined && found.length === expected.length) return;
  const what = differing === undefined ? 'there is more of it' : differing.kind;
  throw new SvcError('internal', `The graph on the new side is not that of the old one: ${what}.`);
}

async function contentOf(file: string): Promise<readonly KindOfContent[]> {
  const content = await openGraphContent({ engine: 'sqlite', file, readOnly: true });
  try {
    return await readContent(content);
  } finally {
    await content.close();
  }
}
