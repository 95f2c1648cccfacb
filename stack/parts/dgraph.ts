import { httpAddress } from '../settings/addresses.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOwnGraph } from '../settings/definition.ts';
import { alphaMemoryMb, alphaPorts, postureAt, usualDgraphPorts, zeroPorts } from '../settings/dgraph.ts';
import { loopback } from '../settings/ports.ts';
import type { ForeignProgram, Limits, Part } from './part.ts';
import { eachAfter, replicaNames } from './port-wish.ts';
import { limitsOf } from './service.ts';
import { fillPlaces, fromFolder, PartFiles, type PartKind, type Setup } from './setup.ts';

const { alpha } = usualDgraphPorts;

/** The platform's own data nodes of Dgraph. They need coordination nodes, and start together. */
export const dgraphAlpha: PartKind = {
  nodes: (definition) =>
    hasOwnGraph(definition) ? replicaNames('dgraph-alpha', definition.replicas['dgraph-alpha']) : [],
  wishes: (definition) =>
    eachAfter(dgraphAlpha.nodes(definition), {
      wanted: definition.graphdb.port,
      usual: alpha.http,
      beside: [alpha.grpc - alpha.http, alpha.internal - alpha.http],
      host: loopback,
      place: 'graphdb.port',
      isPublished: false,
    }),
  parts: (setup) => dgraphAlpha.nodes(setup.definition).map((node) => alphaPart(node, setup)),
};

function alphaPart(node: string, setup: Setup): Part {
  const { definition, secrets, site } = setup;
  const { internal, http, offset } = alphaPorts(site.ports, node);
  const files = new PartFiles(setup);
  const keeps = { folder: graphFolderOf(node), volume: node };
  const variables = {
    BIND_ALL: String(site.isPrivate),
    ADDRESS: `${site.hostOf(node, loopback)}:${internal}`,
    ZERO: dgraphZero
      .nodes(definition)
      .map((zero) => zeroAddressOf(zero, setup))
      .join(','),
    PORT_OFFSET: String(offset),
    DATA: fromFolder(site.dataPathOf(keeps), setup),
    ACL_KEY: fromFolder(files.give(secrets.graphAclKey), setup),
    CACHE_MB: String(definition.graphdb.cacheMb),
    CERTIFICATES: certificatesOf(setup, files),
  };
  return {
    ...{ name: node, service: 'dgraph-alpha', url: `dgraph://${grpcAddressOf(node, setup)}`, sees: [], published: [] },
    ready: { kind: 'http', url: `${httpAddress(loopback, http)}/health` },
    after: dgraphZero.nodes(definition),
    program: dgraphProgram('alpha', {
      node,
      write: ({ readSecret, admins, version }) =>
        alphaConfiguration({
          ...variables,
          TOKEN: readSecret(secrets.graphToken),
          ADMINS: admins,
          ANONYMOUS: postureAt(version),
        }),
      environment: { GOMEMLIMIT: `${alphaMemoryMb(definition.graphdb.cacheMb)}MiB` },
      askVersion: ['version'],
    }),
    variables,
    files: files.all(),
    secrets: [secrets.graphToken, ...files.all().map(({ file }) => file)],
    keeps,
    rooms: ['graph'],
    limits: dgraphLimits('dgraph-alpha', definition),
  };
}

/** How long a data node may take until it is ready, and again until it accepts changes. */
export function graphStartMaxMs(definition: Setup['definition']): number {
  return dgraphLimits('dgraph-alpha', definition).startMaxMs;
}

/** Where other parts reach the data nodes over gRPC. */
export function graphServersOf(setup: Pick<Setup, 'definition' | 'site'>): readonly string[] {
  return dgraphAlpha.nodes(setup.definition).map((node) => grpcAddressOf(node, setup));
}

function grpcAddressOf(node: string, { site }: Pick<Setup, 'site'>): string {
  return `${site.hostOf(node, loopback)}:${alphaPorts(site.ports, node).grpc}`;
}

/** Their HTTP endpoints. Outside of a private network, Dgraph reports only its health without TLS. */
export function graphUrlsOf({ definition, site }: Pick<Setup, 'definition' | 'site'>): readonly string[] {
  return dgraphAlpha.nodes(definition).map((node) => graphUrlOf(node, site));
}

export function graphUrlOf(node: string, site: Setup['site']): string {
  return `${site.isPrivate ? 'http' : 'https'}://${site.hostOf(node, loopback)}:${alphaPorts(site.ports, node).http}`;
}

const { zero } = usualDgraphPorts;

/** The platform's own coordination nodes of Dgraph. */
export const dgraphZero: PartKind = {
  nodes: (definition) =>
    hasOwnGraph(definition) ? replicaNames('dgraph-zero', definition.replicas['dgraph-zero']) : [],
  // Dgraph moves all ports of a node by one offset.
  wishes: (definition) =>
    eachAfter(dgraphZero.nodes(definition), {
      wanted: definition.graphdb.zeroPort,
      usual: zero.grpc,
      beside: [zero.http - zero.grpc],
      host: loopback,
      place: 'graphdb.zeroPort',
      isPublished: false,
    }),
  parts: (setup) => dgraphZero.nodes(setup.definition).map((node, index) => zeroPart(node, index, setup)),
};

/** The address of a coordination node for the other nodes. */
export function zeroAddressOf(node: string, { site }: Pick<Setup, 'site'>): string {
  return `${site.hostOf(node, loopback)}:${zeroPorts(site.ports, node).grpc}`;
}

/** The first node founds the cluster, so it starts first. A new one of the others asks it to be let in (stack/graph/cluster-leader.ts). */
function zeroPart(node: string, index: number, setup: Setup): Part {
  const { definition, secrets, site } = setup;
  const { http, offset } = zeroPorts(site.ports, node);
  const address = zeroAddressOf(node, setup);
  const files = new PartFiles(setup);
  const [founder = node] = dgraphZero.nodes(definition);
  const keeps = { folder: graphFolderOf(node), volume: node };
  const variables = {
    NODE: String(index + 1),
    PEER: index === 0 ? '' : zeroAddressOf(founder, setup),
    BIND_ALL: String(site.isPrivate),
    ADDRESS: address,
    PORT_OFFSET: String(offset),
    DATA: fromFolder(site.dataPathOf(keeps), setup),
    CERTIFICATES: certificatesOf(setup, files),
  };
  return {
    ...{ name: node, service: 'dgraph-zero', url: `dgraph://${address}`, sees: [], published: [] },
    after: index === 0 ? [] : [founder],
    ready: { kind: 'http', url: `${httpAddress(loopback, http)}/health` },
    program: dgraphProgram('zero', {
      node,
      write: ({ readSecret }) => zeroConfiguration({ ...variables, TOKEN: readSecret(secrets.graphToken) }),
    }),
    variables,
    files: files.all(),
    // Its configuration contains the token.
    secrets: [secrets.graphToken, ...files.all().map(({ file }) => file)],
    keeps,
    rooms: ['graph'],
    limits: dgraphLimits('dgraph-zero', definition),
  };
}

/** What both kinds of nodes of Dgraph have in common. */

/** The first start of several nodes holds elections. Dgraph reads a node's files in its own threads. */
export function dgraphLimits(service: 'dgraph-zero' | 'dgraph-alpha', definition: Definition): Limits {
  return { ...limitsOf(service, definition, 300), processesMax: 512 };
}

interface DgraphTraits extends Pick<ForeignProgram, 'askVersion'> {
  readonly node: string;
  readonly write: ForeignProgram['configuration']['write'];
  readonly environment?: Readonly<Record<string, string>>;
}

export function dgraphProgram(
  kind: 'zero' | 'alpha',
  { node, write, environment = {}, ...traits }: DgraphTraits,
): ForeignProgram {
  return {
    ...{ kind: 'foreign', command: 'dgraph', image: 'dgraph' },
    args: (file) => [kind, '--config', file],
    // gRPC would look up a text record for each name. None exists, and in a closed network Docker takes ten seconds to
    // say so.
    environment: { TZ: 'UTC', GRPC_ENABLE_TXT_SERVICE_CONFIG: 'false', ...environment },
    configuration: { name: `${node}.yaml`, write },
    // Its image is Ubuntu's, which contains curl.
    ask: (url) => ['curl', '-sS', '-f', '-m', '4', '-o', '/dev/null', url],
    ...traits,
  };
}

/** The folder of a node, in data/. */
export function graphFolderOf(node: string): string {
  return node.replace('dgraph-', 'dgraph/');
}

/**
 * When other programs of this machine can reach a node, it authenticates other nodes by their key, and itself by the
 * same.
 */
export function certificatesOf(setup: Setup, files: PartFiles): string {
  const { secrets, site } = setup;
  if (site.isPrivate) return '';
  const key = fromFolder(files.give(secrets.graphNodeKey), setup);
  const certificate = fromFolder(files.give(secrets.graphNodeCertificate), setup);
  const shown = ['server', 'client'].map((side) => ` ${side}-cert=${certificate}; ${side}-key=${key};`);
  return ` internal-port=true; ca-cert=${certificate};${shown.join('')}`;
}

/** The data of a node, relative to the installation's folder. */
export function dataOf(node: string): string {
  return `data/${graphFolderOf(node)}`;
}

type Values = Readonly<Record<string, string>>;

/** Fills the template of the coordination node. Throws when a placeholder is left. */
export function zeroConfiguration(values: Values): string {
  return fillPlaces(new URL('../../templates/dgraph-zero.yaml', import.meta.url), values);
}

/** Fills the template of the data node. */
export function alphaConfiguration(values: Values): string {
  return fillPlaces(new URL('../../templates/dgraph-alpha.yaml', import.meta.url), values);
}

/**
 * The backend's user at the platform's own Dgraph. Users and groups share a namespace there, so the group has another
 * name.
 */
export const graphUser = 'svc';
export const graphGroup = 'svc-data';
/** The administrator of every new Dgraph, with a well-known password. */
export const graphAdmin = 'groot';
export const graphAdminGroup = 'guardians';
