import { httpAddress } from '../settings/addresses.ts';
import { usualDgraphPorts, zeroPorts } from '../settings/dgraph-numbers.ts';
import { hasOwnGraph } from '../settings/has-own-graph.ts';
import { loopback } from '../settings/ports.ts';
import { zeroConfiguration } from './dgraph-configuration.ts';
import { certificatesOf, dgraphLimits, dgraphProgram, graphFolderOf } from './dgraph-node.ts';
import type { Part } from './part.ts';
import { eachAfter, replicaNames } from './port-wish.ts';
import { fromFolder, PartFiles, type PartKind, type Setup } from './setup.ts';

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
  parts: (setup) => dgraphZero.nodes(setup.definition).map((node, index) => partOf(node, index, setup)),
};

/** The address of a coordination node for the other nodes. */
export function zeroAddressOf(node: string, { site }: Pick<Setup, 'site'>): string {
  return `${site.hostOf(node, loopback)}:${zeroPorts(site.ports, node).grpc}`;
}

/** The first node founds the cluster, so it starts first. A new one of the others asks it to be let in (stack/graph/cluster-leader.ts). */
function partOf(node: string, index: number, setup: Setup): Part {
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
