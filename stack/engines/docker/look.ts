import { SvcError } from '../../../services/contracts/errors.ts';
import { busKeysOf, routeSecretOf } from '../../bus/nats-configuration.ts';
import { readDefinition } from '../../definition/check.ts';
import { hasOwnGraph } from '../../graph/has-own-graph.ts';
import type { KeptBy } from '../../graph/kept-by.ts';
import type { BringUp } from '../../lifecycle/bring-up.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import { preparePlan } from '../../lifecycle/prepare-plan.ts';
import { fingerprintOf, readSecret } from '../../secrets.ts';
import { type DockerPlan, dockerPlanOf } from './container-plan.ts';
import { inspectContainer, inspectContainers } from './container-state.ts';
import { type ContainersRecord, readContainers } from './containers-record.ts';
import { connectToDaemon, type Daemon } from './daemon.ts';
import { ensureImage, ensureServiceImage, type ImageFacts } from './images.ts';
import { prefixOf } from './names.ts';
import { ensureNetworks, graphNetworkOf, type Network, networkPlansOf } from './network.ts';
import { ownImageOf } from './program.ts';
import type { Present } from './reconcile.ts';
import { serviceImageOn } from './service-image.ts';
import { runsAs } from './user.ts';
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
export async function lookAround({ installation, env, avoid, onProgress, signal }: BringUp): Promise<Look> {
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const before = readContainers(installation);
  const daemon = await connectToDaemon(env);
  refuseOtherDaemon(before, daemon);
  for (const shortcoming of daemon.shortcomings) if (before === null) onNotice(shortcoming);
  const { id } = readDefinition(installation.definitionFile);
  const found = await inspectContainers(daemon.docker, id);
  const volumes = await listVolumes(daemon.docker, id);
  const held = portsOf([...found.values()]);
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
  const serviceImage = serviceImageOn(definition.images.base).name;
  const images = await ensureImages(plan, { docker: daemon.docker, signal, onNotice });
  tellOthers(images, before, onNotice);
  const networks = await ensureNetworks(daemon.docker, networkPlansOf(definition));
  const { user } = runsAs(installation, daemon.isRootless);
  const wanted = dockerPlanOf(plan, {
    user,
    serviceImage,
    imageIds: Object.fromEntries(Object.entries(images).map(([name, { id }]) => [name, id])),
    fingerprintOf,
    places: placesOf(plan, networks),
  });
  const names = wanted.containers.map(({ options }) => options.name);
  const extra = [...found.keys()].filter((name) => !names.includes(name));
  const present = await presentUnder(names, found, daemon);
  return { daemon, before, plan, wanted, present, extra, networks, volumes, images, serviceImage, user, held };
}

function keptIn(volumes: Look['volumes'], id: string): KeptBy {
  return (part) => {
    const name = `${prefixOf({ id })}-${part}`;
    return { place: `the volume ${name}`, isThere: volumes.has(name) };
  };
}

/** Fetches and builds the images that are missing. */
async function ensureImages(
  { definition, parts }: Plan,
  asking: Parameters<typeof ensureServiceImage>[1],
): Promise<Readonly<Record<string, ImageFacts>>> {
  const service = serviceImageOn(definition.images.base);
  const images: Record<string, ImageFacts> = { [service.name]: await ensureServiceImage(service, asking) };
  for (const name of new Set(parts.map((part) => ownImageOf(part.service)))) {
    if (name === null) continue;
    images[definition.images[name]] = await ensureImage(definition.images[name], `images.${name}`, asking);
  }
  return images;
}

function tellOthers(images: Look['images'], before: ContainersRecord | null, onNotice: (message: string) => void) {
  for (const [name, { id }] of Object.entries(images)) {
    const known = before?.images[name];
    if (known !== undefined && known !== id)
      onNotice(`The image ${name} is another one than before: ${known} → ${id}.`);
  }
}

/**
 * Keys that NATS knows the platform by, and the secret that its nodes know each other by; the token of Dgraph's administration, and from where
 * it is let in: where the backend is.
 */
function placesOf({ definition, parts, secrets }: Plan, networks: Look['networks']): Readonly<Record<string, string>> {
  const node = parts.find(({ service }) => service === 'nats');
  const bus = node === undefined ? {} : { ...busKeysOf(secrets), ...routeSecretOf(node.variables, secrets) };
  if (!hasOwnGraph(definition)) return bus;
  return { ...bus, TOKEN: readSecret(secrets.graphToken), ADMINS: networks[graphNetworkOf(definition)]?.subnet ?? '' };
}

function refuseOtherDaemon(before: ContainersRecord | null, { id, socket }: Daemon): void {
  if (before === null || before.daemon.id === id) return;
  throw new SvcError(
    'conflict',
    `The containers and data of this platform are in another Docker than the one at "${socket}": in that at "${before.daemon.socket}".`,
    {
      hint: `Choose that one: DOCKER_HOST=unix://${before.daemon.socket}`,
    },
  );
}

function portsOf(found: readonly Present[]): ReadonlySet<number> {
  const bindings = found.flatMap(({ HostConfig }) => Object.values(HostConfig.PortBindings ?? {}));
  return new Set(bindings.flatMap((list: unknown) => hostPorts(list)));
}

function hostPorts(list: unknown): number[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) =>
    typeof one === 'object' && one !== null && 'HostPort' in one ? [Number(one.HostPort)] : [],
  );
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
