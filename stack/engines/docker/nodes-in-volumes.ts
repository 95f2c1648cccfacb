import type { Copying, NodePlaces, Room } from '../../graph/fill-nodes.ts';
import { metaFileOf } from '../../place/node-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { readContainers, writeContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import type { EngineStart } from '../engine.ts';
import { copyNode, measureVolumes } from './copy-volume.ts';
import type { Daemon } from './daemon.ts';
import type { DockerState } from './docker-state.ts';
import { volumeOfNode } from './lost-volumes.ts';
import { ensurePlanImages } from './plan-images.ts';
import { provisionGraphInside } from './provision-graph.ts';
import { serviceImageOn } from './service-image.ts';
import { statusOfContainers } from './status.ts';
import { stopContainers } from './take-down.ts';
import { runsAs } from './user.ts';
import { ensureVolumes, holdVolumes, listVolumes, removeVolumes } from './volumes.ts';

/** What a copy needs of Docker. */
type VolumeAccess = Pick<DockerState, 'daemon' | 'plan' | 'serviceImage' | 'user'>;

export interface NodesInVolumes extends Pick<EngineStart, 'env' | 'signal' | 'onNotice' | 'onState'> {
  readonly daemon: Daemon;
  /** Names of the volumes that exist and hold no unfinished copy. */
  readonly volumes: ReadonlySet<string>;
}

/** Reads and copies the volumes of Dgraph nodes. */
export async function nodesInVolumes(
  plan: Plan,
  { daemon, volumes, env, signal, onNotice, onState }: NodesInVolumes,
): Promise<NodePlaces> {
  const { installation, definition } = plan;
  const serviceImage = serviceImageOn(definition.images.base).name;
  // Copies run in the service image.
  await ensurePlanImages(plan, { docker: daemon.docker, env, signal, onNotice });
  const state = { daemon, plan, serviceImage, user: runsAs(installation, daemon.isRootless).user };
  const { services } = await statusOfContainers({ installation, readPlan: () => plan, signal });
  return {
    hasData: (node) => volumes.has(volumeOfNode(node, definition)),
    stateOf: (node) => services.find(({ name }) => name === node)?.state ?? null,
    change(nodes) {
      const parts = plan.parts.filter(({ name }) => nodes.includes(name));
      return provisionGraphInside({ plan: { ...plan, parts }, daemon, serviceImage, force: true, signal });
    },
    stop: () => stopContainers(plan, { daemon, onState }),
    roomsFor: async (copies) => [await roomFor(copies, state, signal)],
    copy: (copying) => copyVolume(copying, state, signal),
  };
}

/** The disk where Docker keeps volumes. An unfinished copy is replaced, so its bytes count as free. */
async function roomFor(copies: readonly Copying[], state: VolumeAccess, signal: AbortSignal): Promise<Room> {
  const { daemon, plan } = state;
  const there = await listVolumes(daemon.docker, plan.definition.id);
  const volumeOf = (node: string) => volumeOfNode(node, plan.definition);
  const [sources, targets] = [copies.map(({ from }) => volumeOf(from)), copies.map(({ to }) => volumeOf(to))];
  // Docker creates a missing volume as soon as a container mounts it.
  const measured = [...sources, ...targets].filter((name) => there.has(name));
  const { bytes, freeBytes } = await measureVolumes(measured, { plan, daemon, signal });
  const bytesOf = (volumes: readonly string[]) => volumes.reduce((sum, name) => sum + (bytes[name] ?? 0), 0);
  return {
    place: 'The disk of Docker',
    repair: 'docker system df tells what takes it.',
    neededBytes: bytesOf(sources) - bytesOf(targets),
    freeBytes,
  };
}

/** The record marks the volume as unfinished until the copy is complete. */
async function copyVolume({ from, to }: Copying, state: VolumeAccess, signal: AbortSignal): Promise<void> {
  const { daemon, plan, serviceImage: image, user } = state;
  const { docker } = daemon;
  const { installation, definition } = plan;
  const [source, target] = [volumeOfNode(from, definition), volumeOfNode(to, definition)];
  const own = { docker, installationId: definition.id };
  const hold = async () => holdVolumes({ ...own, volumes: [...(await listVolumes(docker, definition.id))], image });
  recordFilling(installation, target, true);
  await removeVolumes({ ...own, volumes: [target] });
  await ensureVolumes({ ...own, volumes: [target], folder: installation.dir });
  await hold();
  const meta = metaFileOf(to);
  try {
    await copyNode({ from: source, to: target, user, meta }, { plan, daemon, signal });
  } catch (error) {
    // An unfinished copy must not take the room that the platform needs.
    await removeVolumes({ ...own, volumes: [target] })
      .then(hold)
      .catch(() => undefined);
    throw error;
  }
  recordFilling(installation, target, false);
}

/** Records whether a volume holds an unfinished copy. */
function recordFilling(installation: Installation, volume: string, isUnfinished: boolean): void {
  const record = readContainers(installation);
  if (record === null) throw new Error('state/containers.json is missing while a volume is copied');
  const others = record.filling.filter((name) => name !== volume);
  writeContainers(installation, { ...record, filling: isUnfinished ? [...others, volume] : others });
}
