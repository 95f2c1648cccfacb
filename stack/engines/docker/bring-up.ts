import { SvcError } from '../../../services/contracts/errors.ts';
import { aborted } from '../../aborted.ts';
import { hasOwnBus } from '../../bus/has-own-bus.ts';
import { busKeysOf } from '../../bus/nats-configuration.ts';
import { readDefinition } from '../../definition/check.ts';
import type { Definition } from '../../definition/definition.ts';
import type { Installation } from '../../installation.ts';
import type { BringUp } from '../../lifecycle/bring-up.ts';
import { changesBetween, type Plan, type Settings, settingsOf } from '../../lifecycle/plan.ts';
import { preparePlan } from '../../lifecycle/prepare-plan.ts';
import type { UpResult } from '../../lifecycle/progress.ts';
import type { ServiceState } from '../../lifecycle/transition.ts';
import { urlsOf } from '../../lifecycle/urls.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import { writeLease } from '../../ports/port-lease.ts';
import { portWishesOf } from '../../ports/port-wishes.ts';
import { fingerprintOf, recordFingerprint } from '../../secrets.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import { recordCreated } from '../../state/manifest.ts';
import { applySteps } from './apply-steps.ts';
import { type ContainerPlan, type DockerPlan, dockerPlanOf, prefixOf } from './container-plan.ts';
import { becomesReady, inspectContainer, inspectContainers } from './container-state.ts';
import { type ContainersRecord, readContainers, writeContainers } from './containers-record.ts';
import { connectToDaemon, type Daemon } from './daemon.ts';
import { isGiven } from './given-files.ts';
import { ensureImage, ensureServiceImage, type ImageFacts } from './images.ts';
import { ensureNetwork } from './network.ts';
import { publishedOf, runtimeUrl } from './part-in-container.ts';
import { type Present, reconcile, type Step } from './reconcile.ts';
import { serviceImageOn } from './service-image.ts';
import { statusOfContainers } from './status.ts';
import { takeDown } from './take-down.ts';
import { runsAs } from './user.ts';
import { ensureVolumes, handOverVolumes } from './volumes.ts';

/** Makes Docker have what svc.yaml says: what differs or was changed by hand is made anew, the rest goes on. */
export async function bringUpContainers(options: BringUp): Promise<UpResult> {
  const { installation, env, foreground, onProgress, signal, avoid, release } = options;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const onState = (name: string, state: ServiceState) => onProgress({ kind: 'service', name, state });
  const before = readContainers(installation);
  const daemon = await connectToDaemon(env);
  refuseOtherDaemon(before, daemon);
  for (const shortcoming of daemon.shortcomings) if (before === null) onNotice(shortcoming);
  const definition = readDefinition(installation.definitionFile);
  const found = await inspectContainers(daemon.docker, definition.id);
  const held = portsOf([...found.values()]);
  const plan = await preparePlan({ installation, env, running: null, held, avoid, onNotice });
  const bringing = { plan, daemon, before, signal, onNotice, onState };
  const { docker: wanted, images, user } = await planContainers(bringing);
  const settings = settingsIn(plan, wanted);
  const changes = before?.isUp ? changesBetween(before.settings, settings) : [];
  const network = await ensureNetwork(daemon.docker, wanted.network, definition.id);
  const present = await presentUnder(wanted, found, daemon);
  const steps = reconcile(wanted, {
    present,
    known: new Set(before?.isUp ? before.services.map(({ name }) => name) : []),
    networkId: network,
    imageEnv: Object.fromEntries(Object.entries(images).map(([name, { env: brought }]) => [name, brought])),
    isGiven: (container) => isGiven(installation, container),
  });
  const extra = [...found.keys()].filter(
    (name) => !wanted.containers.some(({ options: { name: own } }) => own === name),
  );
  if (before?.isUp) onProgress({ kind: 'plan', changes });
  for (const { container, why } of steps.flatMap(toldOf)) onNotice(`${container.part.name} ${why}: ${mended(why)}.`);
  const status = () => statusOfContainers(installation, signal);
  const ready = async () => {
    const reached = await status();
    onProgress({ kind: 'ready', status: reached });
    return reached;
  };
  const record = recordOf({ plan, daemon, wanted, settings, images, user });
  const isSame = before?.isUp === true && extra.length === 0 && steps.every(({ kind }) => kind === 'keep');
  if (isSame && !foreground && (await areReady(wanted.containers, daemon))) {
    return { outcome: 'unchanged', changes, status: await ready() };
  }
  refuseFullDisk(installation);
  const isFresh = present.size === 0;
  const logs = openPlatformLogs(installation, definition);
  try {
    await ensureVolumes({
      docker: daemon.docker,
      plan: wanted,
      installationId: definition.id,
      user,
      image: wanted.containers[0]?.image ?? '',
    });
    // The record first: what is in Docker from here on is known, whatever becomes of this command.
    noteCreated(installation, wanted);
    const isHandedOver = before?.user === user && wanted.volumes.every((volume) => before.volumes.includes(volume));
    writeContainers(installation, {
      ...record,
      isUp: true,
      volumes: isHandedOver ? record.volumes : (before?.volumes ?? []),
    });
    if (!isHandedOver) {
      await handOverVolumes({
        docker: daemon.docker,
        plan: wanted,
        installationId: definition.id,
        user,
        image: serviceImageOn(definition.images.base).name,
      });
      writeContainers(installation, record);
    }
    for (const port of held.size === 0 ? Object.values(plan.ports) : []) avoid.add(port);
    await applySteps({ steps, extra, plan, daemon, logs, isFresh, signal, onState, onNotice });
  } catch (error) {
    // Started by this call, and of no use to anyone.
    if (isFresh) await takeDown(installation, { daemon, definition, logs, onState: () => undefined });
    throw error;
  } finally {
    logs.close();
  }
  writeLease(installation, plan.ports, portWishesOf(definition));
  recordFingerprint(installation);
  if (!foreground) return { outcome: isFresh ? 'started' : 'restarted', changes, status: await ready() };
  release();
  await ready();
  await aborted(signal);
  await takeDownInForeground(installation, daemon, definition, onState);
  return { outcome: 'stopped', changes, status: await statusOfContainers(installation) };
}

async function takeDownInForeground(
  installation: Installation,
  daemon: Daemon,
  definition: Definition,
  onState: (name: string, state: ServiceState) => void,
): Promise<void> {
  const logs = openPlatformLogs(installation, definition);
  try {
    await takeDown(installation, { daemon, definition, logs, onState });
  } finally {
    logs.close();
  }
}

interface Bringing {
  readonly plan: Plan;
  readonly daemon: Daemon;
  readonly before: ContainersRecord | null;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

interface Planned {
  readonly docker: DockerPlan;
  readonly images: Readonly<Record<string, ImageFacts>>;
  readonly user: string;
}

/** Fetches and builds the images that are missing, and plans with what they are. */
async function planContainers({ plan, daemon, before, signal, onNotice }: Bringing): Promise<Planned> {
  const { definition, installation, secrets } = plan;
  const asking = { docker: daemon.docker, signal, onNotice };
  const service = serviceImageOn(definition.images.base);
  const images: Record<string, ImageFacts> = { [service.name]: await ensureServiceImage(service, asking) };
  for (const name of new Set(plan.parts.map((part) => part.service))) {
    if (name !== 'nats' && name !== 'caddy') continue;
    images[definition.images[name]] = await ensureImage(definition.images[name], `images.${name}`, asking);
  }
  for (const [name, { id }] of Object.entries(images)) {
    const known = before?.images[name];
    if (known !== undefined && known !== id)
      onNotice(`The image ${name} is another one than before: ${known} → ${id}.`);
  }
  const { user } = runsAs(installation, daemon.isRootless);
  const docker = dockerPlanOf(plan, {
    user,
    serviceImage: service.name,
    imageIds: Object.fromEntries(Object.entries(images).map(([name, { id }]) => [name, id])),
    fingerprintOf,
    busKeys: hasOwnBus(definition) ? busKeysOf(secrets) : {},
  });
  return { docker, images, user };
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

/** Ports of this machine that containers of ours have. */
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

/** What lies under the names that ours shall have, whoever made it. */
async function presentUnder(
  wanted: DockerPlan,
  found: ReadonlyMap<string, Present>,
  { docker }: Daemon,
): Promise<ReadonlyMap<string, Present>> {
  const present = new Map<string, Present>();
  for (const { options } of wanted.containers) {
    const one = found.get(options.name) ?? (await inspectContainer(docker, options.name));
    if (one !== null) present.set(options.name, one);
  }
  return present;
}

async function areReady(containers: readonly ContainerPlan[], { docker }: Daemon): Promise<boolean> {
  const ready = await Promise.all(containers.map(({ options, check }) => becomesReady(docker, options.name, check)));
  return !ready.includes(false);
}

function toldOf(step: Step): { readonly container: ContainerPlan; readonly why: string }[] {
  if (step.kind === 'keep' || step.why === null) return [];
  return [{ container: step.container, why: step.why }];
}

function mended(why: string): string {
  return why === 'was paused' || why === 'was stopped' ? 'it goes on' : 'it is made anew';
}

/** What changes of a container that no variable says. */
function settingsIn(plan: Plan, { containers }: DockerPlan): Settings {
  const own = containers.flatMap(({ part, image, options: { User, HostConfig } }) => [
    [`${part.name} image`, image],
    [`${part.name} user`, User ?? ''],
    [`${part.name} memory`, String(HostConfig?.Memory)],
    [`${part.name} published`, JSON.stringify(HostConfig?.PortBindings)],
  ]);
  return { ...settingsOf(plan), ...Object.fromEntries(own) };
}

interface Recorded {
  readonly plan: Plan;
  readonly daemon: Daemon;
  readonly wanted: DockerPlan;
  readonly settings: Settings;
  readonly images: Readonly<Record<string, ImageFacts>>;
  readonly user: string;
}

function recordOf({ plan, daemon, wanted, settings, images, user }: Recorded): ContainersRecord {
  const { definition, addresses, ports, version } = plan;
  return {
    isUp: true,
    version,
    daemon: { id: daemon.id, socket: daemon.socket },
    settings,
    urls: { ...urlsOf(addresses), runtime: runtimeUrl },
    services: plan.parts.map((part) => {
      const isReached = publishedOf(part, definition, ports).length > 0;
      return { name: part.name, container: `${prefixOf(definition)}-${part.name}`, url: isReached ? part.url : null };
    }),
    images: Object.fromEntries(Object.entries(images).map(([name, { id }]) => [name, id])),
    volumes: [...wanted.volumes],
    user,
  };
}

/** Everything that is to be removed one day. */
function noteCreated(installation: Installation, { network, volumes, containers }: DockerPlan): void {
  recordCreated(installation, [
    { kind: 'network', path: network },
    ...volumes.map((path) => ({ kind: 'volume', path }) as const),
    ...[...new Set(containers.map(({ image }) => image))].map((path) => ({ kind: 'image', path }) as const),
  ]);
}
