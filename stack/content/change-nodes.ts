import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { carryBlobs } from '../../services/backend/files/content.ts';
import { type BlobsPlace, openBlobsContent } from '../../services/backend/files/open-content.ts';
import { type BusContentOptions, openBusContent } from '../../services/kit/bus/open-content.ts';
import { carriedBlobs, carriedBus, carriedFolder } from '../place/carried-bus.ts';
import type { Plan } from '../plan/plan.ts';
import { busSeedsOf } from '../secrets/secrets.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnBus } from '../settings/has-own-bus.ts';
import { syncFolder } from '../state/durable-file.ts';
import { acquireLock } from '../state/lock.ts';
import type { Alone } from './alone.ts';
import { carryBus, verifyBus } from './carry-bus.ts';
import { keepsBlobs, keyMaxAgeOf } from './kept-on-bus.ts';

/** Where the nodes of a plan keep their streams: one alone in another place than a cluster, because neither can read what the other wrote. */
export interface BusPlaces {
  isThere(plan: Plan): boolean;
  /** The plan of another definition. */
  planOf(definition: Definition): Plan;
  /** Makes it, with nothing in it, in the place of whatever is there. */
  empty(plan: Plan): Promise<void>;
  remove(plan: Plan): Promise<void>;
  /** Runs those nodes there without the rest of the platform. */
  run(plan: Plan, signal: AbortSignal): Promise<Pick<Alone, 'bus' | 'stop'>>;
}

export interface ChangeOfNodes {
  readonly plan: Plan;
  readonly places: BusPlaces;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Whether what the bus keeps was kept by another number of nodes, or is on its way from them. */
export function areOtherNodes(plan: Plan, places: BusPlaces): boolean {
  if (!hasOwnBus(plan.definition)) return false;
  return existsSync(carriedIn(plan)) || (places.isThere(planBefore(plan, places)) && !places.isThere(plan));
}

/**
 * Carries what the bus keeps from one number of nodes to another, while nothing else runs. Killed at any moment the next start goes on: what is read
 * from stays until all of it is in a folder, and from then on that folder is what counts.
 */
export async function changeNodes({ plan, places, signal, onNotice }: ChangeOfNodes): Promise<void> {
  const lock = acquireLock(plan.installation, 'platform');
  try {
    const before = planBefore(plan, places);
    const folder = carriedIn(plan);
    const draft = `${folder}.part`;
    const carry = (nodes: Plan, way: (bus: Kept) => readonly [from: Kept, to: Kept]) =>
      withNodes(nodes, { places, signal }, async (bus) => carryKept(plan, way(bus), signal));
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) {
      mkdirSync(draft, { mode: 0o700 });
      await carry(before, (bus) => [bus, keptIn(draft, plan)]);
      rename(draft, folder, plan);
    }
    await places.remove(before);
    await places.empty(plan);
    const counted = await carry(plan, (bus) => [keptIn(folder, plan), bus]);
    rename(folder, draft, plan);
    rmSync(draft, { recursive: true });
    const [now, then] = [plan, before].map(({ definition }) => definition.replicas.nats);
    const kept = counted.length === 0 ? '' : `, with what it kept: ${counted.join(', ')}`;
    onNotice(`The bus has ${now} in the place of ${then} nodes${kept}.`);
  } finally {
    lock.release();
  }
}

function carriedIn({ installation }: Plan): string {
  return join(installation.dataDir, carriedFolder);
}

function rename(from: string, to: string, { installation }: Plan): void {
  renameSync(from, to);
  syncFolder(installation.dataDir);
}

/** The same platform with as many nodes as kept what is there. */
function planBefore({ definition }: Plan, places: BusPlaces): Plan {
  const before = {
    ...definition,
    replicas: { ...definition.replicas, nats: definition.replicas.nats === 1 ? 3 : 1 },
  } as const;
  return places.planOf(before);
}

/** What is kept in one place, as it is opened. */
interface Kept {
  readonly bus: BusContentOptions;
  readonly blobs: BlobsPlace;
}

function keptIn(dir: string, plan: Plan): Kept {
  return {
    bus: { engine: 'sqlite', file: join(dir, carriedBus), keyMaxAgeMs: keyMaxAgeOf(plan) },
    blobs: { engine: 'folder', dir: join(dir, carriedBlobs) },
  };
}

async function withNodes<Result>(
  plan: Plan,
  { places, signal }: Pick<ChangeOfNodes, 'places' | 'signal'>,
  work: (bus: Kept) => Promise<Result>,
): Promise<Result> {
  const { bus: servers, stop } = await places.run(plan, signal);
  try {
    const shown = { servers, caPath: null, seeds: busSeedsOf(plan.secrets) };
    return await work({
      bus: { engine: 'nats', ...shown, keyMaxAgeMs: keyMaxAgeOf(plan) },
      blobs: { engine: 'jetstream', ...shown },
    });
  } finally {
    await stop();
  }
}

/** Carries what is kept, reads it there again, and says how much it is. */
async function carryKept(
  plan: Plan,
  [from, to]: readonly [Kept, Kept],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const counted: string[] = [];
  if (plan.definition.bus.persistentMessaging) {
    const carried = await opened(from.bus, (old) => opened(to.bus, (young) => carryBus(old, young)));
    const [usage, sessions] = await opened(to.bus, (young) => verifyBus(carried, young));
    counted.push(`${usage?.count ?? 0} usage records`, `${sessions?.count ?? 0} sessions`);
  }
  if (keepsBlobs(plan)) {
    await using old = await openBlobsContent(from.blobs);
    await using young = await openBlobsContent(to.blobs);
    counted.push(`${(await carryBlobs(old.blobs, young.blobs, signal)).count} files`);
  }
  return counted;
}

async function opened<Result>(
  kept: BusContentOptions,
  work: (content: Awaited<ReturnType<typeof openBusContent>>) => Promise<Result>,
): Promise<Result> {
  const content = await openBusContent(kept);
  try {
    return await work(content);
  } finally {
    await content.close();
  }
}
