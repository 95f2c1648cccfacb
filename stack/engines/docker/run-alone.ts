import type Docker from 'dockerode';
import { wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Alone } from '../../content/place.ts';
import { isGraphNode, type Part } from '../../parts/part.ts';
import { type Plan, planAt } from '../../plan/plan.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import { readContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { closedBus } from '../closed-bus.ts';
import {
  type AloneContainer,
  aloneNetworksOf,
  aloneOf,
  type Forward,
  type Forwards,
  forwarderOf,
  forwardsTo,
  namedAlone,
} from './alone-plan.ts';
import { awaitFounder } from './await-founder.ts';
import { type ContainerPlan, dockerPlanOf } from './container-plan.ts';
import { inspectContainer, inspectContainers, waitUntilContainerReady } from './container-state.ts';
import { factsOf } from './facts.ts';
import { giveFiles, takeBackFiles } from './given-files.ts';
import { describeLostVolume } from './lost-volumes.ts';
import { labels } from './names.ts';
import { ensureNetworks, removeFreeNetworks } from './network.ts';
import { notReady } from './not-ready.ts';
import type { PreparedDaemon } from './prepared-daemon.ts';
import { tolerate } from './remove-container.ts';
import { runsAs } from './user.ts';
import { listVolumes } from './volumes.ts';

export interface ContainersAlone {
  readonly plan: Plan;
  readonly daemon: PreparedDaemon;
  /** The nodes to run, without nodes that lost their volumes. The other volumes belong to the user of the containers. */
  readonly bus: boolean;
  readonly graph: boolean;
  /** Whether the nodes run already, as parts of the platform: then they are reached as they are. */
  readonly isRunning?: boolean;
  readonly signal: AbortSignal;
}

/** The forwarding container starts at once. */
const readyTimeoutMs = 60_000;

/**
 * Runs nodes as containers with the same images, limits and closed networks as in the platform. Another container forwards loopback ports
 * to them.
 */
export async function runContainersAlone(options: ContainersAlone): Promise<Alone> {
  const { plan, daemon, bus, graph, isRunning = false, signal } = options;
  const { docker, isRootless } = daemon;
  const { parts: all } = planAt({ ...plan, definition: closedBus(plan.definition) });
  const [record, volumes] = [readContainers(plan.installation), await listVolumes(docker, plan.definition.id)];
  const isLost = ({ name }: Part) => describeLostVolume(name, record, volumes) !== null;
  const parts = all.filter((part) => (bus && part.service === 'nats') || (graph && isGraphNode(part) && !isLost(part)));
  const started: AloneContainer[] = [];
  const stop = async () => {
    await removeAll(docker, started.splice(0), plan.installation);
    await removeFreeNetworks(docker, plan.definition.id);
  };
  if (parts.length === 0) return { bus: [], graph: null, stop };
  try {
    const networks = await ensureNetworks(docker, aloneNetworksOf(plan.definition));
    const { user } = runsAs(plan.installation, isRootless);
    const { containers } = dockerPlanOf({ ...plan, parts }, factsOf(plan, { user, images: daemon.images, networks }));
    const containerOf = (name: string) => namedAlone(name, plan.definition).name;
    const start = async (container: AloneContainer, part?: Part) => {
      signal.throwIfAborted();
      started.push(container);
      await make(container, options);
      if (part !== undefined) await awaitFounder(part, { docker, parts, containerOf, signal });
      await begin(container, docker);
    };
    await startInOrder(isRunning ? [] : containers, async (one) => {
      const alone = aloneOf(one, plan);
      await start(alone, one.part);
      await becomesReady(one, alone, options);
    });
    const forwards = forwardsTo(containers);
    const way = forwarderOf(forwards, plan, user);
    await start(way);
    return { ...(await endsOf(way, forwards, options)), stop };
  } catch (error) {
    await stop();
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw error;
  }
}

/** Removes the containers that a killed command left. Their volumes stay. */
export async function endContainersAlone(docker: Docker, installation: Installation, id: string): Promise<void> {
  const found = await inspectContainers(docker, id, [labels.alone]);
  const left = [...found].map(([name, { Config }]) => ({
    options: { name },
    part: Config.Labels?.[labels.part] ?? name,
  }));
  await removeAll(docker, left, installation);
  await removeFreeNetworks(docker, id);
}

async function make(container: AloneContainer, { plan, daemon }: ContainersAlone): Promise<void> {
  const { docker, isRootless } = daemon;
  const { part, given, options, joins } = container;
  // A killed command may have left it.
  await removeAll(docker, [container], plan.installation);
  giveFiles(plan.installation, { part: { name: part }, given }, runsAs(plan.installation, isRootless).owner);
  await docker.createContainer(options);
  for (const name of joins) await docker.getNetwork(name).connect({ Container: options.name });
}

async function begin({ part, options }: AloneContainer, docker: Docker): Promise<void> {
  await docker
    .getContainer(options.name)
    .start()
    .catch((error: unknown) => {
      throw new SvcError('unavailable', `${part} failed to start: ${wordsOf(error)}.`, {
        hint: 'Check Docker: docker info',
        cause: error,
      });
    });
}

async function becomesReady(
  { part, check }: ContainerPlan,
  { options }: AloneContainer,
  { daemon, signal }: ContainersAlone,
): Promise<void> {
  const { docker } = daemon;
  try {
    await waitUntilContainerReady(docker, options.name, check, { timeoutMs: part.limits.startMaxMs, signal });
  } catch (error) {
    throw signal.aborted ? error : await notReady({ part, options }, error, docker);
  }
}

/** The addresses of the nodes on this machine, once the forwarding container listens. */
async function endsOf(
  { options: { name } }: AloneContainer,
  { bus, graph }: Forwards,
  { daemon, signal }: ContainersAlone,
): Promise<Omit<Alone, 'stop'>> {
  const { docker } = daemon;
  const [last] = [...bus, ...graph.map(({ grpc }) => grpc)].toReversed();
  await waitUntilContainerReady(docker, name, listensAt(last?.listen ?? 0), { timeoutMs: readyTimeoutMs, signal });
  const found = await inspectContainer(docker, name);
  const at = ({ listen }: Forward) => {
    const [end] = found?.NetworkSettings.Ports[`${listen}/tcp`] ?? [];
    if (end === undefined) throw new SvcError('unavailable', `${name} ended before it was used.`);
    return `${end.HostIp}:${end.HostPort}`;
  };
  const ends = graph.map(({ http, grpc }) => ({ url: `http://${at(http)}`, server: at(grpc) }));
  return {
    bus: bus.map((way) => `nats://${at(way)}`),
    graph: ends.length === 0 ? null : { urls: ends.map(({ url }) => url), servers: ends.map(({ server }) => server) },
  };
}

/** Runs inside the container. */
function listensAt(port: number): readonly string[] {
  const ask = `require('net').connect(${port}).on('connect', () => process.exit()).on('error', () => process.exit(1))`;
  return ['node', '-e', ask];
}

async function removeAll(
  docker: Docker,
  containers: readonly { readonly part: string; readonly options: { readonly name: string } }[],
  installation: Installation,
): Promise<void> {
  for (const { part, options } of containers.toReversed()) {
    const container = docker.getContainer(options.name);
    // The plan of the container has the deadline. The container may have ended or be gone.
    await container.stop().catch((error: unknown) => tolerate(error, [304, 404]));
    await container.remove({ force: true }).catch((error: unknown) => tolerate(error, [404]));
    takeBackFiles(installation, part);
  }
}
