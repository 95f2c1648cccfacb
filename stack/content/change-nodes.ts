import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KindOfContent } from '../../services/backend/graph/content.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { ownVersion } from '../machine/version.ts';
import type { Plan } from '../plan/plan.ts';
import { fingerprintOf } from '../secrets/secrets.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnBus } from '../settings/has-own-bus.ts';
import { carriedFolder } from '../state/data-files.ts';
import { syncFolder } from '../state/durable-file.ts';
import { acquireLock } from '../state/lock.ts';
import type { Alone } from './alone.ts';
import { type ArchiveHead, formatVersion } from './archive-format.ts';
import { keepsBlobs } from './kept-on-bus.ts';
import type { Place } from './place.ts';
import { type Store, withStore } from './store.ts';
import { archiveStore, fillStore, verifyStore } from './store-archive.ts';

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
 * Carries what the bus keeps from one number of nodes to another, while nothing else runs. Killed at any moment, the next start goes on: the old
 * nodes' data stays until an archive of it is whole, and from then on the archive counts.
 */
export async function changeNodes({ plan, places, signal, onNotice }: ChangeOfNodes): Promise<void> {
  const lock = acquireLock(plan.installation, 'platform');
  try {
    const before = planBefore(plan, places);
    const folder = carriedIn(plan);
    if (!existsSync(folder)) await archiveBus(before, { places, signal }, folder);
    const archive = archiveIn(folder);
    if (!existsSync(archive)) throw otherVersion(plan);
    await places.remove(before);
    await places.empty(plan);
    const kinds = await withBus(plan, { places, signal }, async (store) =>
      verifyStore(store, await fillStore({ file: archive, passphrase: null }, store, signal), signal),
    );
    // A folder that is removed in part must not be taken for an archive.
    renameSync(folder, `${folder}.part`);
    syncFolder(plan.installation.dataDir);
    rmSync(`${folder}.part`, { recursive: true });
    const [now, then] = [plan, before].map(({ definition }) => definition.replicas.nats);
    const counted = countsOf(plan, kinds);
    const kept = counted.length === 0 ? '' : `, with what it kept: ${counted.join(', ')}`;
    onNotice(`The bus has ${now} in the place of ${then} nodes${kept}.`);
  } finally {
    lock.release();
  }
}

type Carrying = Pick<ChangeOfNodes, 'places' | 'signal'>;

/** The folder gets its name once the archive was read again. */
async function archiveBus(before: Plan, carrying: Carrying, folder: string): Promise<void> {
  const draft = `${folder}.part`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const head: ArchiveHead = {
    ...{ svc: 'backup', format: formatVersion, version: ownVersion(), createdAt: new Date().toISOString() },
    encryptionKey: fingerprintOf(before.secrets.encryptionKey),
    bus: before.definition.bus.persistentMessaging ? 'exact' : 'none',
  };
  const { signal } = carrying;
  await withBus(before, carrying, (store) => archiveStore(store, { file: archiveIn(draft), head, signal }));
  syncFolder(draft);
  renameSync(draft, folder);
  syncFolder(before.installation.dataDir);
}

/** Runs the nodes of a plan, and opens what they keep. */
async function withBus<Result>(
  plan: Plan,
  { places, signal }: Carrying,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const kinds = { bus: plan.definition.bus.persistentMessaging, graph: false, blobs: keepsBlobs(plan) };
  const place: Place = {
    there: kinds,
    dir: plan.installation.dataDir,
    run: async () => ({ ...(await places.run(plan, signal)), graph: null }),
    save: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return await withStore({ plan, place, kinds, to: 'fill', signal }, work);
}

function countsOf(plan: Plan, kinds: readonly KindOfContent[]): readonly string[] {
  const { persistentMessaging } = plan.definition.bus;
  const count = (kind: string) => kinds.find((one) => one.kind === kind)?.count ?? 0;
  return [
    ...(persistentMessaging ? [`${count('bus.usage')} usage records`, `${count('bus.sessions')} sessions`] : []),
    ...(keepsBlobs(plan) ? [`${count('files')} files`] : []),
  ];
}

function carriedIn({ installation }: Plan): string {
  return join(installation.dataDir, carriedFolder);
}

function archiveIn(folder: string): string {
  return join(folder, 'content.backup.gz');
}

function otherVersion(plan: Plan): SvcError {
  const folder = carriedIn(plan);
  return new SvcError('unsupported', `"${folder}" is of a change of nodes that another version has begun.`, {
    hint: 'Bring it to its end with that version: svc up',
  });
}

/** The same platform with the number of nodes that holds the present data. */
function planBefore({ definition }: Plan, places: BusPlaces): Plan {
  const before = {
    ...definition,
    replicas: { ...definition.replicas, nats: definition.replicas.nats === 1 ? 3 : 1 },
  } as const;
  return places.planOf(before);
}
