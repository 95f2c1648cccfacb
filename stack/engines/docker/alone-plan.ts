import type { ContainerCreateOptions, NetworkCreateOptions } from 'dockerode';
import type { Part } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import { dgraphPorts, loopback, natsPorts } from '../../settings/ports.ts';
import type { ContainerPlan } from './container-plan.ts';
import { type GivenFile, givenDirOf } from './given-files.ts';
import { containerNameOf, labels, prefixOf } from './names.ts';
import { bridgeOf, networkPlansApart } from './network.ts';
import { dist } from './program.ts';
import { serviceImageOn } from './service-image.ts';
import { dataDir, givenDir } from './site.ts';
import { confined } from './task.ts';

/** A container that runs without the rest of its platform. */
export interface AloneContainer {
  /** The name of its part. */
  readonly part: string;
  readonly given: readonly GivenFile[];
  readonly options: ContainerCreateOptions & { readonly name: string };
  /** Further networks of the container. */
  readonly joins: readonly string[];
}

/** One network that reaches this machine, and the closed networks of the bus and the graph. */
export function aloneNetworksOf(definition: Definition): readonly NetworkCreateOptions[] {
  return [bridgeOf(aloneNetworkOf(definition), definition), ...networkPlansApart(definition)];
}

/** The container of a part on the same volume, in one network only, without a restart policy. */
export function aloneOf({ part, volume, given, options, networks }: ContainerPlan, plan: Plan): AloneContainer {
  const { definition, installation } = plan;
  const network = networks.at(-1) ?? '';
  const own = namedAlone(part.name, definition);
  const folder = `${givenDirOf(installation, own.part)}:${givenDir}:ro,Z`;
  return {
    part: own.part,
    given,
    joins: [],
    options: {
      ...options,
      ...{ name: own.name, Labels: own.labels, ExposedPorts: {} },
      HostConfig: {
        ...options.HostConfig,
        Binds: [`${volume}:${dataDir}:nocopy`, folder],
        NetworkMode: network,
        PortBindings: {},
        RestartPolicy: { Name: 'no' },
      },
      NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [part.name] } } },
    },
  };
}

/** A connection from a port of the forwarding container to a part. */
export interface Forward {
  readonly listen: number;
  readonly to: string;
}

export interface Forwards {
  readonly bus: readonly Forward[];
  readonly graph: readonly { readonly http: Forward; readonly grpc: Forward }[];
}

/** The connections that a backend needs to the nodes of the bus and the graph. */
export function forwardsTo(containers: readonly ContainerPlan[]): Forwards {
  const { http, grpc } = dgraphPorts.alpha;
  const namesOf = (service: Part['service']) =>
    containers.filter(({ part }) => part.service === service).map(({ part }) => part.name);
  const way = (name: string, port: number, index: number) => ({ listen: port + index, to: `${name}:${port}` });
  return {
    bus: namesOf('nats').map((name, index) => way(name, natsPorts.client, index)),
    graph: namesOf('dgraph-alpha').map((name, index) => ({
      http: way(name, http, index),
      grpc: way(name, grpc, index),
    })),
  };
}

/** Forwards random ports on loopback into networks that cannot publish a port. */
export function forwarderOf({ bus, graph }: Forwards, { definition }: Plan, user: string): AloneContainer {
  const forwards = [...bus, ...graph.flatMap(({ http, grpc }) => [http, grpc])];
  const byPort = <Value>(value: Value) => Object.fromEntries(forwards.map(({ listen }) => [`${listen}/tcp`, value]));
  const own = namedAlone('way', definition);
  const options = {
    ...{ name: own.name, Labels: own.labels, ExposedPorts: byPort({}) },
    Image: serviceImageOn(definition.images.base).name,
    User: user,
    Entrypoint: ['node', `${dist}/stack/engines/docker/forward/main.js`],
    Cmd: forwards.map(({ listen, to }) => `${listen}=${to}`),
    HostConfig: {
      ...confined,
      NetworkMode: aloneNetworkOf(definition),
      PortBindings: byPort([{ HostIp: loopback, HostPort: '0' }]),
      Memory: forwarderMemoryBytes,
      PidsLimit: forwarderProcessesMax,
      Init: true,
    },
  };
  return {
    part: own.part,
    given: [],
    joins: networkPlansApart(definition).map(({ Name }) => Name),
    options,
  };
}

const forwarderMemoryBytes = 256 * 1024 * 1024;
const forwarderProcessesMax = 64;

export function namedAlone(name: string, definition: Definition) {
  const part = `alone-${name}`;
  return {
    part,
    name: containerNameOf(part, definition),
    labels: { [labels.installation]: definition.id, [labels.part]: part, [labels.alone]: 'true' },
  };
}

function aloneNetworkOf(definition: Definition): string {
  return `${prefixOf(definition)}-alone`;
}
