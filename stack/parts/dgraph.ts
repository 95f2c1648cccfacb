import { httpAddress } from '../settings/addresses.ts';
import type { Definition } from '../settings/definition.ts';
import { alphaMemoryMb, oldestDgraph, postureAt } from '../settings/dgraph.ts';
import { alphaPorts, loopback, nodesOf, zeroPorts } from '../settings/ports.ts';
import type { ForeignProgram, Limits, Part } from './part.ts';
import { limitsOf } from './service.ts';
import { fillPlaces, fromFolder, PartFiles, type Setup } from './setup.ts';

/** The backend's user at the platform's own Dgraph. Users and groups share a namespace there. */
export const graphUser = 'svc';
export const graphGroup = 'svc-data';
/** The administrator of every new Dgraph, with a well-known password. */
export const graphAdmin = 'groot';
export const graphAdminGroup = 'guardians';

/** The nodes of the platform's own Dgraph: coordination nodes, then data nodes. */
export function dgraphParts(setup: Setup): readonly Part[] {
  return [
    ...nodesOf('dgraph-zero', setup.definition).map((node, index) => zeroPart(node, index, setup)),
    ...nodesOf('dgraph-alpha', setup.definition).map((node) => alphaPart(node, setup)),
  ];
}

/** The first node founds the cluster, so it starts first. A new one of the others asks it to be let in (stack/graph/cluster-leader.ts). */
function zeroPart(node: string, index: number, setup: Setup): Part {
  const { definition, site } = setup;
  const { http, offset } = zeroPorts(site.ports, node);
  const [founder = node] = nodesOf('dgraph-zero', definition);
  const address = zeroAddressOf(node, setup);
  return dgraphPart(setup, {
    ...{ node, service: 'dgraph-zero', http, url: `dgraph://${address}`, files: new PartFiles(setup) },
    after: index === 0 ? [] : [founder],
    values: {
      NODE: String(index + 1),
      PEER: index === 0 ? '' : zeroAddressOf(founder, setup),
      ADDRESS: address,
      PORT_OFFSET: String(offset),
    },
  });
}

/** Data nodes need coordination nodes, and start together. */
function alphaPart(node: string, setup: Setup): Part {
  const { definition, secrets, site } = setup;
  const { internal, http, grpc, offset } = alphaPorts(site.ports, node);
  const { cacheMb } = definition.graphdb;
  const host = site.hostOf(node, loopback);
  const zeros = nodesOf('dgraph-zero', definition);
  const files = new PartFiles(setup);
  return dgraphPart(setup, {
    ...{ node, service: 'dgraph-alpha', http, url: `dgraph://${host}:${grpc}`, files },
    after: zeros,
    values: {
      ADDRESS: `${host}:${internal}`,
      ZERO: zeros.map((zero) => zeroAddressOf(zero, setup)).join(','),
      PORT_OFFSET: String(offset),
      ACL_KEY: fromFolder(files.give(secrets.graphAclKey), setup),
      CACHE_MB: String(cacheMb),
    },
    environment: { GOMEMLIMIT: `${alphaMemoryMb(cacheMb)}MiB` },
    dependsOnVersion: true,
  });
}

type DgraphKind = 'dgraph-zero' | 'dgraph-alpha';

interface DgraphTraits extends Pick<Part, 'url' | 'after'>, Pick<ForeignProgram['configuration'], 'dependsOnVersion'> {
  readonly node: string;
  readonly service: DgraphKind;
  readonly http: number;
  readonly files: PartFiles;
  readonly values: Part['variables'];
  readonly environment?: ForeignProgram['environment'];
}

function dgraphPart(setup: Setup, traits: DgraphTraits): Part {
  const { definition, secrets, site } = setup;
  const { node, service, http, url, after, files, values, environment, ...onVersion } = traits;
  const keeps = { folder: graphFolderOf(node), volume: node };
  const variables = {
    ...values,
    BIND_ALL: String(site.isPrivate),
    DATA: fromFolder(site.dataPathOf(keeps), setup),
    CERTIFICATES: certificatesOf(setup, files),
  };
  return {
    ...{ name: node, service, url, after, variables, keeps, sees: [], published: [], rooms: ['graph'] },
    ready: { kind: 'http', url: `${httpAddress(loopback, http)}/health` },
    program: {
      ...{ kind: 'foreign', command: 'dgraph', image: 'dgraph' },
      ...{ neededBy: 'graph: dgraph', oldest: oldestDgraph, askVersion: ['version'], mayBeUnversioned: true },
      howToInstall: `Install Dgraph ${oldestDgraph} or newer from the releases of github.com/dgraph-io/dgraph, which are for Linux only, and put the program dgraph on the path. On macOS, name one that runs elsewhere in graphdb.url of svc.yaml.`,
      args: (file) => [service.replace('dgraph-', ''), '--config', file],
      // gRPC would look up a text record for each name. None exists, and in a closed network Docker takes ten seconds
      // to say so.
      environment: { TZ: 'UTC', GRPC_ENABLE_TXT_SERVICE_CONFIG: 'false', ...environment },
      configuration: {
        name: `${node}.yaml`,
        ...onVersion,
        write: ({ readSecret, admins, version }) => {
          const token = readSecret(secrets.graphToken);
          const known = { TOKEN: token, ADMINS: admins, ANONYMOUS: postureAt(version) };
          return dgraphConfiguration(service, { ...variables, ...known });
        },
      },
      // Its image is Ubuntu's, which contains curl.
      ask: (address) => ['curl', '-sS', '-f', '-m', '4', '-o', '/dev/null', address],
    },
    files: files.all(),
    // Its configuration contains the token.
    secrets: [secrets.graphToken, ...files.all().map(({ file }) => file)],
    limits: dgraphLimits(service, definition),
  };
}

export function dgraphConfiguration(service: DgraphKind, values: Part['variables']): string {
  // Two literals, because the build copies only the templates that it finds as literals.
  const templates = {
    'dgraph-zero': new URL('../../templates/dgraph-zero.yaml', import.meta.url),
    'dgraph-alpha': new URL('../../templates/dgraph-alpha.yaml', import.meta.url),
  };
  return fillPlaces(templates[service], values);
}

/** Outside of a private network, nodes authenticate each other by one key. */
function certificatesOf(setup: Setup, files: PartFiles): string {
  const { secrets, site } = setup;
  if (site.isPrivate) return '';
  const key = fromFolder(files.give(secrets.graphNodeKey), setup);
  const certificate = fromFolder(files.give(secrets.graphNodeCertificate), setup);
  const shown = ['server', 'client'].map((side) => ` ${side}-cert=${certificate}; ${side}-key=${key};`);
  return ` internal-port=true; ca-cert=${certificate};${shown.join('')}`;
}

/** The first start of several nodes holds elections. Dgraph reads a node's files in its own threads. */
function dgraphLimits(service: DgraphKind, definition: Definition): Limits {
  return { ...limitsOf(service, definition, 300), processesMax: 512 };
}

/** How long a data node may take until it is ready, and again until it accepts changes. */
export function graphStartMaxMs(definition: Definition): number {
  return dgraphLimits('dgraph-alpha', definition).startMaxMs;
}

function zeroAddressOf(node: string, { site }: Setup): string {
  return `${site.hostOf(node, loopback)}:${zeroPorts(site.ports, node).grpc}`;
}

/** Where other parts reach the data nodes over gRPC. */
export function graphServersOf({ definition, site }: Setup): readonly string[] {
  return nodesOf('dgraph-alpha', definition).map(
    (node) => `${site.hostOf(node, loopback)}:${alphaPorts(site.ports, node).grpc}`,
  );
}

export function graphUrlsOf({ definition, site }: Setup): readonly string[] {
  return nodesOf('dgraph-alpha', definition).map((node) => graphUrlOf(node, site));
}

/** Outside of a private network, Dgraph reports only its health without TLS. */
export function graphUrlOf(node: string, site: Setup['site']): string {
  return `${site.isPrivate ? 'http' : 'https'}://${site.hostOf(node, loopback)}:${alphaPorts(site.ports, node).http}`;
}

/** The data of a node, relative to the installation's folder. */
export function dataOf(node: string): string {
  return `data/${graphFolderOf(node)}`;
}

function graphFolderOf(node: string): string {
  return node.replace('dgraph-', 'dgraph/');
}
