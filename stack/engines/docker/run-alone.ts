import type { ContainerInspectInfo } from 'dockerode';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Alone } from '../../content/place.ts';
import { isGraphNode, type Part } from '../../parts/part.ts';
import { type Plan, planAt } from '../../plan/plan.ts';
import { dgraphPorts, loopback, natsPorts } from '../../settings/ports.ts';
import { closedBus } from '../closed-bus.ts';
import { applySteps } from './apply-steps.ts';
import { waitUntilContainerReady } from './container-readiness.ts';
import { labels, prefixOf } from './names.ts';
import { bridgeOf, ensureNetworks, networkOf } from './network.ts';
import { reconcile } from './reconcile.ts';
import { dist } from './site.ts';
import { endContainersAlone } from './take-down.ts';
import { removeNow, type TaskSite, taskOptions } from './task.ts';

interface ContainersAlone extends TaskSite {
  /** The nodes to run, without nodes that lost their volumes. The other volumes belong to the user of the containers. */
  readonly bus: boolean;
  readonly graph: boolean;
  /** Whether the nodes run already, as parts of the platform: then only the forwarder is started. */
  readonly isRunning?: boolean;
}

/** Runs nodes of the bus and the graph in the containers of the platform, for one command. Only this machine reaches them. */
export async function runContainersAlone(options: ContainersAlone): Promise<Alone> {
  const { plan, daemon, bus, graph, isRunning = false, signal } = options;
  const closed = planAt({ ...plan, definition: closedBus(plan.definition) });
  const parts = closed.parts.filter((part) => (bus && part.service === 'nats') || (graph && isGraphNode(part)));
  const stop = () => endContainersAlone(options);
  if (parts.length === 0) return { bus: [], graph: null, stop };
  const quiet = { signal, onNotice: () => undefined, onState: () => undefined };
  try {
    // The daemon has the images.
    const found = await reconcile({ ...closed, parts }, daemon, {
      ...quiet,
      env: {},
      restart: new Set(),
      runsAlone: true,
    });
    if (!isRunning) {
      refuseRunning([...found.present.values(), ...found.extra]);
      await applySteps({ ...found, ...quiet });
    }
    const nodes = found.steps.map(({ container }) => container.part);
    const ends = await startForwarder(nodes, options);
    signal.throwIfAborted();
    return { ...ends, stop };
  } catch (error) {
    await stop();
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    throw error;
  }
}

/** Containers of the platform would be removed as parts that the plan does not have. */
function refuseRunning(found: readonly ContainerInspectInfo[]): void {
  if (found.every(({ Config }) => Config.Labels?.[labels.alone] !== undefined)) return;
  throw new SvcError('conflict', 'The platform has containers, and state/containers.json does not say that it runs.', {
    hint: 'Repair it: svc up',
  });
}

/** The forwarder starts at once. */
const forwarderStartMaxMs = 60_000;
const firstPort = 9000;
const asksPort = `require('net').connect(process.argv[1])
  .on('connect', () => process.exit()).on('error', () => process.exit(1))`;

/** Starts a container that forwards random ports on loopback to nodes. Returns the addresses of the nodes on this machine. */
async function startForwarder(nodes: readonly Part[], site: TaskSite): Promise<Omit<Alone, 'stop'>> {
  const { plan, daemon, signal } = site;
  const { docker } = daemon;
  const targets = nodes.flatMap(targetsOf);
  const options = forwarderOf(targets, daemon.user, plan);
  const { name, HostConfig } = options;
  // A killed command may have left it.
  await removeNow(docker, name);
  await ensureNetworks(docker, [bridgeOf(HostConfig.NetworkMode, plan.definition)]);
  const forwarder = await docker.createContainer(options);
  const rooms = new Set(nodes.flatMap((node) => node.rooms));
  for (const room of rooms) await docker.getNetwork(networkOf(room, plan.definition)).connect({ Container: name });
  await forwarder.start();
  const ask = ['node', '-e', asksPort, String(firstPort + targets.length - 1)];
  await waitUntilContainerReady(docker, name, ask, { timeoutMs: forwarderStartMaxMs, signal });
  const { Ports } = (await forwarder.inspect()).NetworkSettings;
  const at = (target = '') => {
    const [end] = Ports[portIn(targets, target)] ?? [];
    if (end === undefined) throw new SvcError('unavailable', `The forwarder to ${target} ended before it was used.`);
    return `${end.HostIp}:${end.HostPort}`;
  };
  const named = (service: Part['service']) => nodes.filter((node) => node.service === service).map(targetsOf);
  const alphas = named('dgraph-alpha');
  const graph = { urls: alphas.map(([http]) => `http://${at(http)}`), servers: alphas.map(([, grpc]) => at(grpc)) };
  return {
    bus: named('nats').map(([client]) => `nats://${at(client)}`),
    graph: alphas.length === 0 ? null : graph,
  };
}

/** What a backend uses of a node. */
export function targetsOf({ name, service }: Part): readonly string[] {
  const { http, grpc } = dgraphPorts.alpha;
  if (service === 'nats') return [`${name}:${natsPorts.client}`];
  return service === 'dgraph-alpha' ? [`${name}:${http}`, `${name}:${grpc}`] : [];
}

export function forwarderOf(targets: readonly string[], user: string, plan: Plan) {
  const byPort = <Value>(value: Value) => Object.fromEntries(targets.map((target) => [portIn(targets, target), value]));
  const program = `${dist}/stack/engines/docker/forward/main.js`;
  const command = ['node', program, ...targets.map((target, index) => `${firstPort + index}=${target}`)];
  // Other parts have no way into this network, and so none through the forwarder.
  const network = `${prefixOf(plan.definition)}-forward`;
  const { HostConfig, ...options } = taskOptions({ name: 'forward', command, user, network }, plan);
  const PortBindings = byPort([{ HostIp: loopback, HostPort: '0' }]);
  return { ...options, ExposedPorts: byPort({}), HostConfig: { ...HostConfig, PortBindings } };
}

function portIn(targets: readonly string[], target: string): string {
  return `${firstPort + targets.indexOf(target)}/tcp`;
}
