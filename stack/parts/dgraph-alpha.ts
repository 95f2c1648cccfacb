import { httpAddress } from '../settings/addresses.ts';
import { alphaMemoryMb, alphaPorts, usualDgraphPorts } from '../settings/dgraph-numbers.ts';
import { postureAt } from '../settings/dgraph-version.ts';
import { hasOwnGraph } from '../settings/has-own-graph.ts';
import { loopback } from '../settings/ports.ts';
import { alphaConfiguration } from './dgraph-configuration.ts';
import { certificatesOf, dgraphLimits, dgraphProgram, graphFolderOf } from './dgraph-node.ts';
import { dgraphZero, zeroAddressOf } from './dgraph-zero.ts';
import type { Part } from './part.ts';
import { eachAfter, replicaNames } from './port-wish.ts';
import { fromFolder, PartFiles, type PartKind, type Setup } from './setup.ts';

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
  parts: (setup) => dgraphAlpha.nodes(setup.definition).map((node) => partOf(node, setup)),
};

function partOf(node: string, setup: Setup): Part {
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
