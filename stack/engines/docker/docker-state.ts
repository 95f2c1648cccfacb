import type { ContainerInspectInfo } from 'dockerode';
import type { Plan } from '../../plan/plan.ts';
import { fingerprintOf, readSecret } from '../../secrets/secrets.ts';
import { type ContainersRecord, readContainers } from '../../state/containers-record.ts';
import type { EngineStart } from '../engine.ts';
import { type ContainerPlan, containerPlansOf } from './container-plan.ts';
import { inspectContainers } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { runsAs } from './given-files.ts';
import { ensurePlanImages } from './images.ts';
import { describeLostVolume, wholeVolumes } from './lost-volumes.ts';
import { labels } from './names.ts';
import { ensureNetworks, networkOf, networkPlansOf } from './network.ts';
import { serviceImageOn } from './service-image.ts';
import { listVolumes } from './volumes.ts';

/** The plan of the containers, and what the daemon has. */
export interface DockerState {
  readonly daemon: Daemon;
  /** The record of the last start. */
  readonly before: ContainersRecord | null;
  readonly plan: Plan;
  readonly planned: readonly ContainerPlan[];
  /** The planned containers without nodes of Dgraph that lost their volumes. */
  readonly wanted: readonly ContainerPlan[];
  /** The existing containers of the plan, by name. */
  readonly present: ReadonlyMap<string, ContainerInspectInfo>;
  /** Containers of parts that the plan no longer has, with the names of their parts. */
  readonly extra: ReadonlyMap<string, string>;
  /** Names of the volumes that exist and hold no unfinished copy. */
  readonly volumes: ReadonlySet<string>;
  /** The ids of images by name. */
  readonly images: Readonly<Record<string, string>>;
  readonly user: string;
}

export interface StateReading extends Pick<EngineStart, 'env' | 'signal' | 'onNotice'> {
  /** Whether the parts run for one command, without the rest of the platform. */
  readonly runsAlone: boolean;
}

/** Reads everything once. Makes missing images and networks first: the plan of the containers depends on them, and no part notices. */
export async function readDockerState(plan: Plan, daemon: Daemon, reading: StateReading): Promise<DockerState> {
  const { definition, installation } = plan;
  const { docker } = daemon;
  const { onNotice, runsAlone } = reading;
  const before = readContainers(installation);
  const images = await ensurePlanImages(plan, { ...reading, docker });
  reportChangedImages(images, before, onNotice);
  const networks = await ensureNetworks(docker, networkPlansOf(definition));
  const admins = networks[networkOf('graph', definition)] ?? '';
  const { user } = runsAs(installation, daemon.isRootless);
  const serviceImage = serviceImageOn(definition.images.base).name;
  const facts = { user, serviceImage, images, runsAlone, fingerprintOf, readSecret, admins };
  const planned = containerPlansOf(plan, facts);
  const there = await listVolumes(docker, definition.id);
  const wanted = planned.filter(({ part }) => describeLostVolume(part.name, before, there) === null);
  const found = await inspectContainers(docker, definition.id);
  const names = new Set(wanted.map(({ options }) => options.name));
  const present = new Map([...found].filter(([name]) => names.has(name)));
  const others = [...found].filter(([name]) => !names.has(name));
  const extra = new Map(others.map(([name, { Config }]) => [name, Config.Labels[labels.part] ?? name]));
  const volumes = wholeVolumes(there, before);
  return { daemon, before, plan, planned, wanted, present, extra, volumes, images, user };
}

function reportChangedImages(
  images: DockerState['images'],
  before: ContainersRecord | null,
  onNotice: (message: string) => void,
): void {
  for (const [name, id] of Object.entries(images)) {
    const known = before?.images[name];
    if (known !== undefined && known !== id) onNotice(`The image ${name} has changed: ${known} → ${id}.`);
  }
}
