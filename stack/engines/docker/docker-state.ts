import type { ContainerInspectInfo } from 'dockerode';
import type { Plan } from '../../plan/plan.ts';
import { type ContainersRecord, readContainers } from '../../state/containers-record.ts';
import type { EngineStart } from '../engine.ts';
import { type DockerPlan, dockerPlanOf } from './container-plan.ts';
import { inspectContainers } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { factsOf } from './facts.ts';
import type { ImageFacts } from './images.ts';
import { describeLostVolume, wholeVolumes } from './lost-volumes.ts';
import { labels } from './names.ts';
import { ensureNetworks, networkPlansOf } from './network.ts';
import { ensurePlanImages } from './plan-images.ts';
import { serviceImageOn } from './service-image.ts';
import { runsAs } from './user.ts';
import { listVolumes } from './volumes.ts';

/** A container of the platform that exists. */
export interface ExistingContainer extends Pick<ContainerInspectInfo, 'Config'> {
  readonly State: Pick<ContainerInspectInfo['State'], 'Running' | 'Paused' | 'Restarting'>;
}

/** The plan of the containers, and what the daemon has. */
export interface DockerState {
  readonly daemon: Daemon;
  /** The record of the last start. */
  readonly before: ContainersRecord | null;
  readonly plan: Plan;
  /** The containers, volumes and networks of the plan. */
  readonly planned: DockerPlan;
  /** The same without nodes of Dgraph that lost their volumes. */
  readonly wanted: DockerPlan;
  /** The existing containers of the plan, by name. */
  readonly present: ReadonlyMap<string, ExistingContainer>;
  /** Containers of parts that the plan no longer has, with the names of their parts. */
  readonly extra: ReadonlyMap<string, string>;
  /** Names of the volumes that exist and hold no unfinished copy. */
  readonly volumes: ReadonlySet<string>;
  readonly images: Readonly<Record<string, ImageFacts>>;
  /** The name of the service image. */
  readonly serviceImage: string;
  readonly user: string;
}

/** Reads everything once. Makes missing images and networks first: the plan of the containers depends on them, and no part notices. */
export async function readDockerState(
  plan: Plan,
  daemon: Daemon,
  { installation, env, signal, onNotice }: EngineStart,
): Promise<DockerState> {
  const { definition } = plan;
  const { docker } = daemon;
  const before = readContainers(installation);
  const serviceImage = serviceImageOn(definition.images.base).name;
  const images = await ensurePlanImages(plan, { docker, env, signal, onNotice });
  tellOthers(images, before, onNotice);
  const networks = await ensureNetworks(docker, networkPlansOf(definition));
  const { user } = runsAs(installation, daemon.isRootless);
  const there = await listVolumes(docker, definition.id);
  const planned = dockerPlanOf(plan, factsOf(plan, { user, images, networks }));
  const wanted = withoutLostNodes(planned, (part) => describeLostVolume(part, before, there) !== null);
  const found = await inspectContainers(docker, definition.id);
  const names = new Set(wanted.containers.map(({ options }) => options.name));
  const present = new Map([...found].filter(([name]) => names.has(name)));
  const others = [...found].filter(([name]) => !names.has(name));
  const extra = new Map(others.map(([name, { Config }]) => [name, Config.Labels[labels.part] ?? name]));
  const volumes = wholeVolumes(there, before);
  return { daemon, before, plan, planned, wanted, present, extra, volumes, images, serviceImage, user };
}

function withoutLostNodes(planned: DockerPlan, isLost: (part: string) => boolean): DockerPlan {
  const containers = planned.containers.filter(({ part }) => !isLost(part.name));
  return { ...planned, containers, volumes: containers.flatMap(({ volume }) => volume ?? []) };
}

function tellOthers(
  images: DockerState['images'],
  before: ContainersRecord | null,
  onNotice: (message: string) => void,
) {
  for (const [name, { id }] of Object.entries(images)) {
    const known = before?.images[name];
    if (known !== undefined && known !== id) onNotice(`The image ${name} has changed: ${known} → ${id}.`);
  }
}
