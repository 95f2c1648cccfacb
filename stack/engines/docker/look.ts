import type { KeptBy } from '../../graph/kept-by.ts';
import type { BringUp } from '../../lifecycle/bring-up.ts';
import { makeReady } from '../../lifecycle/make-ready.ts';
import { preparePlan } from '../../lifecycle/prepare-plan.ts';
import { kindOf } from '../../place/node-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { readDefinition } from '../../settings/check.ts';
import { type ContainersRecord, readContainers, writeContainers } from '../../state/containers-record.ts';
import { planner } from '../plan-of.ts';
import { type DockerPlan, dockerPlanOf } from './container-plan.ts';
import { inspectContainer, inspectContainers } from './container-state.ts';
import { connectToDaemon, type Daemon } from './daemon.ts';
import { factsOf } from './facts.ts';
import { portsHeldBy } from './held-ports.ts';
import type { ImageFacts } from './images.ts';
import { goneVolumes, settleLostVolumes, wholeVolumes } from './lost-volumes.ts';
import { prefixOf } from './names.ts';
import { ensureNetworks, type Network, networkPlansOf } from './network.ts';
import { ensurePlanImages } from './plan-images.ts';
import type { Present } from './reconcile.ts';
import { refuseOtherDaemon } from './refuse-other-daemon.ts';
import { refuseOtherFolder } from './refuse-other-folder.ts';
import { endContainersAlone } from './run-alone.ts';
import { serviceImageOn } from './service-image.ts';
import { runsAs } from './user.ts';
import { listVolumes, removeVolumes } from './volumes.ts';

/** What svc.yaml asks for, and what Docker has. */
export interface Look {
  readonly daemon: Daemon;
  /** What was written down when `svc` was last here. */
  readonly before: ContainersRecord | null;
  readonly plan: Plan;
  /** What svc.yaml asks of Docker. */
  readonly planned: DockerPlan;
  /** The same without nodes of Dgraph that lost their volumes. */
  readonly wanted: DockerPlan;
  /** Those of them that shall get a copy of another node's data. */
  readonly copied: readonly string[];
  /** Volumes that the platform begins without, once these copies are made. */
  readonly forgotten: readonly string[];
  /** What lies under the names that ours shall have, whoever made it. */
  readonly present: ReadonlyMap<string, Present>;
  /** Containers of parts that are no more. */
  readonly extra: readonly string[];
  readonly networks: Readonly<Record<string, Network>>;
  /** Names of the volumes that exist and hold no unfinished copy. */
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
  const volumes = wholeVolumes(await listVolumes(daemon.docker, id), recorded);
  const held = portsHeldBy([...found.values()]);
  const plan = await preparePlan({
    installation,
    planner,
    ownsPort: (port) => held.has(port),
    keptBy: keptIn(volumes, recorded, id),
    avoid,
    onNotice,
  });
  const { definition } = plan;
  const { before, lost, copied, forgotten } = await withoutVanished(recorded, {
    installation,
    daemon,
    plan,
    volumes,
    startEmpty,
    onNotice,
  });
  await makeReady(plan, onNotice);
  const serviceImage = serviceImageOn(definition.images.base).name;
  const images = await ensurePlanImages(plan, { docker: daemon.docker, signal, onNotice });
  tellOthers(images, before, onNotice);
  const networks = await ensureNetworks(daemon.docker, networkPlansOf(definition));
  const { user } = runsAs(installation, daemon.isRootless);
  const planned = dockerPlanOf(plan, factsOf(plan, { user, images, networks }));
  const wanted = withoutNodes(planned, lost);
  const names = wanted.containers.map(({ options }) => options.name);
  const extra = [...found.keys()].filter((name) => !names.includes(name));
  const present = await presentUnder(names, found, daemon);
  return {
    ...{ daemon, before, plan, planned, wanted, copied, forgotten, present, extra, networks, volumes, images },
    ...{ serviceImage, user, held },
  };
}

interface Volumes extends Pick<BringUp, 'installation' | 'startEmpty'> {
  readonly daemon: Daemon;
  readonly plan: Plan;
  readonly volumes: ReadonlySet<string>;
  readonly onNotice: (message: string) => void;
}

interface Known extends Pick<Look, 'before' | 'copied' | 'forgotten'> {
  /** Nodes of Dgraph that lost their volumes. */
  readonly lost: readonly string[];
}

/** Throws where a volume is gone that this platform had: it would start empty, and look healthy. */
async function withoutVanished(before: ContainersRecord | null, there: Volumes): Promise<Known> {
  const { installation, daemon, plan, volumes, startEmpty, onNotice } = there;
  const { definition } = plan;
  const gone = goneVolumes(plan, { record: before, there: volumes });
  if (before === null || gone.length === 0) return { before, lost: [], copied: [], forgotten: [] };
  const asked = { definition, gone, there: volumes, startEmpty, mayKeepOut: true, onNotice };
  const { whole, lost, copied } = await settleLostVolumes(asked);
  // A copy may still be refused.
  if (copied.length > 0) return { before, lost, copied, forgotten: whole };
  await forgetVolumes(whole, { installation, daemon, plan });
  return { before: readContainers(installation), lost, copied, forgotten: [] };
}

/** Removes volumes from the record: the next start makes them anew. */
export async function forgetVolumes(
  volumes: readonly string[],
  { installation, daemon, plan }: Pick<Volumes, 'installation' | 'daemon' | 'plan'>,
): Promise<void> {
  const record = readContainers(installation);
  if (record === null || volumes.length === 0) return;
  // A volume with an unfinished copy still exists.
  await removeVolumes({ docker: daemon.docker, volumes, installationId: plan.definition.id });
  const isKept = (name: string) => !volumes.includes(name);
  const { volumes: known, filling } = record;
  writeContainers(installation, { ...record, volumes: known.filter(isKept), filling: filling.filter(isKept) });
}

function withoutNodes(planned: DockerPlan, lost: readonly string[]): DockerPlan {
  const containers = planned.containers.filter(({ part }) => !lost.includes(part.name));
  return { ...planned, containers, volumes: containers.flatMap(({ volume }) => volume ?? []) };
}

/** A node of Dgraph that lost its volume is still a member of its cluster. */
function keptIn(volumes: Look['volumes'], before: ContainersRecord | null, id: string): KeptBy {
  return (part) => {
    const name = `${prefixOf({ id })}-${part}`;
    const isMissed = kindOf(part) !== null && before?.volumes.includes(name) === true;
    return { place: `the volume ${name}`, isThere: volumes.has(name) || isMissed };
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
