import type { ContainerCreateOptions, NetworkCreateOptions } from 'dockerode';
import type { Definition } from '../../definition/definition.ts';
import { usualDgraphPorts } from '../../graph/dgraph-ports.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import type { Part } from '../../part.ts';
import { loopback, usualBusPorts } from '../../ports/port-wishes.ts';
import type { ContainerPlan } from './container-plan.ts';
import { type GivenFile, givenDirOf } from './given-files.ts';
import { labels, prefixOf } from './names.ts';
import { graphNetworkOf, networkPlansOf } from './network.ts';
import { dataDir, givenDir } from './part-in-container.ts';
import { dist } from './program.ts';
import { serviceImageOn } from './service-image.ts';
import { confined } from './task.ts';

/** A container that runs without the rest of its platform. */
export interface AloneContainer {
  /** What it is called among parts. */
  readonly part: string;
  readonly given: readonly GivenFile[];
  readonly options: ContainerCreateOptions & { readonly name: string };
  /** A further network that it is in. */
  readonly joins: string | null;
}

/** The one in which NATS is reached from this machine, and that in which nodes of Dgraph are, which leads nowhere. */
export function aloneNetworksOf(definition: Definition): readonly NetworkCreateOptions[] {
  const own = { Driver: 'bridge', CheckDuplicate: true, Labels: { [labels.installation]: definition.id } };
  const graph = networkPlansOf(definition).filter(({ Name }) => Name === graphNetworkOf(definition));
  return [{ Name: aloneNetworkOf(definition), ...own }, ...graph];
}

/** Only this machine reaches it meanwhile, on loopback. */
export function withoutTls(part: Part): Part {
  return part.service === 'nats' ? { ...part, variables: { ...part.variables, TLS: '' } } : part;
}

/** The same container on the same volume: not started again by anybody, with NATS on a port of loopback that nobody was told. */
export function aloneOf({ part, volume, given, options }: ContainerPlan, plan: Plan): AloneContainer {
  const { definition, installation } = plan;
  const isBus = part.service === 'nats';
  const network = isBus ? aloneNetworkOf(definition) : graphNetworkOf(definition);
  const own = namedAlone(part.name, definition);
  const reached = publishedOnLoopback(isBus ? [usualBusPorts.nats] : []);
  return {
    part: own.part,
    given,
    joins: null,
    options: {
      ...options,
      ...{ name: own.name, Labels: own.labels, ExposedPorts: reached.ports },
      HostConfig: {
        ...options.HostConfig,
        Binds: [`${volume}:${dataDir}:nocopy`, `${givenDirOf(installation, own.part)}:${givenDir}:ro,Z`],
        NetworkMode: network,
        PortBindings: reached.bindings,
        RestartPolicy: { Name: 'no' },
      },
      NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [part.name] } } },
    },
  };
}

/** Passes on from loopback what a backend uses of data nodes, into their network, where nothing can be published. */
export function wayTo(alphas: readonly ContainerPlan[], { definition }: Plan, user: string): AloneContainer {
  const { http, grpc } = usualDgraphPorts.alpha;
  const ways = alphas.flatMap(({ part }, index) => [
    { listen: wayPorts.http(index), to: `${part.name}:${http}` },
    { listen: wayPorts.grpc(index), to: `${part.name}:${grpc}` },
  ]);
  const own = namedAlone('way', definition);
  const reached = publishedOnLoopback(ways.map(({ listen }) => listen));
  const options = {
    ...{ name: own.name, Labels: own.labels, ExposedPorts: reached.ports },
    Image: serviceImageOn(definition.images.base).name,
    User: user,
    Entrypoint: ['node', `${dist}/stack/engines/docker/forward/main.js`],
    Cmd: ways.map(({ listen, to }) => `${listen}=${to}`),
    HostConfig: {
      ...confined,
      NetworkMode: aloneNetworkOf(definition),
      PortBindings: reached.bindings,
      Memory: wayMemoryBytes,
      PidsLimit: wayProcessesMax,
      Init: true,
    },
  };
  return { part: own.part, given: [], joins: graphNetworkOf(definition), options };
}

/** Where the way to the data node with that number is entered, in its container. */
export const wayPorts = { http: (index: number) => 8080 + index, grpc: (index: number) => 9080 + index } as const;
const wayMemoryBytes = 256 * 1024 * 1024;
const wayProcessesMax = 64;

function namedAlone(name: string, definition: Definition) {
  const part = `alone-${name}`;
  return {
    part,
    name: `${prefixOf(definition)}-${part}`,
    labels: { [labels.installation]: definition.id, [labels.part]: part, [labels.alone]: 'true' },
  };
}

function aloneNetworkOf(definition: Definition): string {
  return `${prefixOf(definition)}-alone`;
}

/** On ports that are free there. */
function publishedOnLoopback(ports: readonly number[]) {
  const byPort = <Value>(value: Value) => Object.fromEntries(ports.map((port) => [`${port}/tcp`, value]));
  return { ports: byPort({}), bindings: byPort([{ HostIp: loopback, HostPort: '0' }]) };
}
