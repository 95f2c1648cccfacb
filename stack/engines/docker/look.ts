import { readDefinition } from '../../definition/check.ts';
import type { KeptBy } from '../../graph/kept-by.ts';
import type { BringUp } from '../../lifecycle/bring-up.ts';
import { makeReady } from '../../lifecycle/make-ready.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import { preparePlan } from '../../lifecycle/prepare-plan.ts';
import { vanished } from '../../place/kept-data.ts';
import { type DockerPlan, dockerPlanOf } from './container-plan.ts';
import { inspectContainer, inspectContainers } from './container-state.ts';
import { type ContainersRecord, readContainers, writeContainers } from './containers-record.ts';
import { connectToDaemon, type Daemon } from './daemon.ts';
import { factsOf } from './facts.ts';
import { portsHeldBy } from './held-ports.ts';
import type { ImageFacts } from './images.ts';
import { prefixOf } from './names.ts';
import { ensureNetworks, type Network, networkPlansOf } from './network.ts';
import { ensurePlanImages } from './plan-images.ts';
import type { Present } from './reconcile.ts';
import { refuseLostNodes } from './refuse-lost-nodes.ts';
import { refuseOtherDaemon } from './refuse-other-daemon.ts';
import { refuseOtherFolder } from './refuse-other-folder.ts';
import { endContainersAlone } from './run-alone.ts';
import { serviceImageOn } from './service-image.ts';
import { runsAs } from './user.ts';
import { volumesOf } from './volume-of.ts';
import { listVolumes } from './volumes.ts';

/** What svc.yaml asks for, and what Docker has. */
export interface Look {
  readonly daemon: Daemon;
  /** What was written down when `svc` was last here. */
  readonly before: ContainersRecord | null;
  readonly plan: Plan;
  readonly wanted: DockerPlan;
  /** What lies under the names that ours shall have, whoever made it. */
  readonly present: ReadonlyMap<string, Present>;
  /** Containers of parts that are no more. */
  readonly extra: readonly string[];
  readonly networks: Readonly<Record<string, Network>>;
  /** Names of the volumes that are there. */
  readonly volumes: ReadonlySet<string>;
  readonly images: Readonly<Record<string, ImageFacts>>;
  /** The image of the services, by name. */
  readonly serviceImage: string;
  readonly user: string;
  /** Ports of this machine that containers of ours have. */
  readonly held: ReadonlySet<number>;
}

/** Looks at everything, once. What a plan is made of is made where it is missing: images and networks, which change nothing that runs. */
export async function lookAround({ installation, env, avoid, startEmpty, onProgress, signal }: BringUp): Promise<Look> {
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const recorded = readContainers(installation);
  const daemon = await connectToDaemon(env);
  refuseOtherDaemon(recorded, daemon);
  for (const shortcoming of daemon.shortcomings) if (recorded === null) onNotice(shortcoming);
  const { id } = readDefinition(installation.definitionFile);
  await refuseOtherFolder(daemon.docker, installation, id);
  await endContainersAlone(daemon.docker, installation, id);
  const found = await inspectContainers(daemon.docker, id);
  const volumes = await listVolumes(daemon.docker, id);
  const held = portsHeldBy([...found.values()]);
  const plan = await preparePlan({
    installation,
    env,
    running: null,
    held,
    keptBy: keptIn(volumes, id),
    avoid,
    onNotice,
  });
  const { definition } = plan;
  const before = await withoutVanished(recorded, { installation, plan, volumes, startEmpty });
  await makeReady(plan, { running: null, onNotice });
  const serviceImage = serviceImageOn(definition.images.base).name;
  const images = await ensurePlanImages(plan, { docker: daemon.docker, signal, onNotice });
  tellOthers(images, before, onNotice);
  const networks = await ensureNetworks(daemon.docker, networkPlansOf(definition));
  const { user } = runsAs(installation, daemon.isRootless);
  const wanted = dockerPlanOf(plan, factsOf(plan, { user, images, networks }));
  const names = wanted.containers.map(({ options }) => options.name);
  const extra = [...found.keys()].filter((name) => !names.includes(name));
  const present = await presentUnder(names, found, daemon);
  return { daemon, before, plan, wanted, present, extra, networks, volumes, images, serviceImage, user, held };
}

interface Volumes extends Pick<BringUp, 'installation' | 'startEmpty'> {
  readonly plan: Plan;
  readonly volumes: ReadonlySet<string>;
}

/** Throws where a volume is gone that this platform had: it would start empty, and look healthy. */
async function withoutVanished(
  before: ContainersRecord | null,
  { installation, plan, volumes, startEmpty }: Volumes,
): Promise<ContainersRecord | null> {
  const wanted = volumesOf(plan);
  const gone = (before?.volumes ?? []).filter((name) => wanted.includes(name) && !volumes.has(name));
  if (before === null || gone.length === 0) return before;
  refuseLostNodes({ definition: plan.definition, gone, there: volumes });
  const told = gone.map((name) => `the volume ${name}`);
  if (startEmpty === null) throw vanished(told, null);
  await startEmpty(told);
  const without = { ...before, volumes: before.volumes.filter((name) => !gone.includes(name)) };
  writeContainers(installation, without);
  return without;
}

function keptIn(volumes: Look['volumes'], id: string): KeptBy {
  return (part) => {
    const name = `${prefixOf({ id })}-${part}`;
    return { place: `the volume ${name}`, isThere: volumes.has(name) };
  };
}

function tellOthers(images: Look['images'], before: ContainersRecord | null, onNotice: (message: string) => void) {
  for (const [name, { id }] of Object.entries(images)) {
    const known = before?.images[name];
    if (known !== undefined && known !== id)
      onNotice(`The image ${name} is another one than before: ${known} → ${id}.`);
  }
}

async function presentUnder(
  names: readonly string[],
  found: ReadonlyMap<string, Present>,
  { docker }: Daemon,
): Promise<ReadonlyMap<string, Present>> {
  const present = new Map<string, Present>();
  for (const name of names) {
    const one = found.get(name) ?? (await inspectContainer(docker, name));
    if (one !== null) present.set(name, one);
  }
  return present;
}
