import { basename } from 'node:path';
import { httpAddress } from '../addresses.ts';
import type { EnvironmentOf } from '../environment.ts';
import type { Part } from '../part.ts';
import { loopback, replicaNames } from '../ports/port-wishes.ts';
import type { SecretFiles } from '../secrets.ts';
import type { Definition } from '../settings/definition.ts';
import { alphaPorts, zeroPorts } from './dgraph-ports.ts';
import { hasOwnGraph, isGraphOnLoopback } from './has-own-graph.ts';

/** Dgraph, where it is our own: coordination nodes, and data nodes that need them. Those of one kind are started together. */
export function graphParts(of: EnvironmentOf): readonly Part[] {
  if (!hasOwnGraph(of.definition)) return [];
  const { 'dgraph-zero': zeros, 'dgraph-alpha': alphas } = of.definition.replicas;
  const coordination = replicaNames('dgraph-zero', zeros).map((name, index) => coordinationNode(of, name, index));
  return [...coordination, ...replicaNames('dgraph-alpha', alphas).map((name) => dataNode(of, name, coordination))];
}

/** The first one founds the cluster; where there is none yet, the others ask it to be let in. */
function coordinationNode({ definition, ports, secrets }: EnvironmentOf, name: string, index: number): Part {
  const { grpc, http, offset } = zeroPorts(ports, name);
  return {
    name,
    service: 'dgraph-zero',
    url: `dgraph://${loopback}:${grpc}`,
    ready: { kind: 'http', url: `${httpAddress(loopback, http)}/health` },
    after: [],
    variables: {
      NODE: String(index + 1),
      PEER: index === 0 ? '' : `${loopback}:${zeroPorts(ports).grpc}`,
      BIND_ALL: 'false',
      ADDRESS: `${loopback}:${grpc}`,
      PORT_OFFSET: String(offset),
      DATA: dataOf(name),
      CERTIFICATES: certificates(definition, secrets),
    },
    secrets: [secrets.graphToken, ...certificateFiles(definition, secrets)],
  };
}

function dataNode({ definition, ports, secrets }: EnvironmentOf, name: string, coordination: readonly Part[]): Part {
  const { internal, http, grpc, offset } = alphaPorts(ports, name);
  return {
    name,
    service: 'dgraph-alpha',
    url: `dgraph://${loopback}:${grpc}`,
    ready: { kind: 'http', url: `${httpAddress(loopback, http)}/health` },
    after: coordination.map((zero) => zero.name),
    variables: {
      BIND_ALL: 'false',
      ADDRESS: `${loopback}:${internal}`,
      ZERO: coordination.map(({ variables }) => variables.ADDRESS).join(','),
      PORT_OFFSET: String(offset),
      DATA: dataOf(name),
      ACL_KEY: inSecrets(secrets.graphAclKey),
      CACHE_MB: String(definition.graphdb.cacheMb),
      CERTIFICATES: certificates(definition, secrets),
    },
    secrets: [secrets.graphToken, secrets.graphAclKey, ...certificateFiles(definition, secrets)],
  };
}

/** On loopback a node lets only those in that have its key too, and says by the same who it is. */
function certificates(definition: Definition, { graphNodeKey, graphNodeCertificate }: SecretFiles): string {
  if (!isGraphOnLoopback(definition)) return '';
  const [key, certificate] = [inSecrets(graphNodeKey), inSecrets(graphNodeCertificate)];
  const shown = ['server', 'client'].map((side) => ` ${side}-cert=${certificate}; ${side}-key=${key};`);
  return ` internal-port=true; ca-cert=${certificate};${shown.join('')}`;
}

function certificateFiles(definition: Definition, { graphNodeKey, graphNodeCertificate }: SecretFiles) {
  return isGraphOnLoopback(definition) ? [graphNodeKey, graphNodeCertificate] : [];
}

/** From the folder of the installation. */
function inSecrets(file: string): string {
  return `secrets/${basename(file)}`;
}

/** The HTTP endpoints of data nodes on loopback. Only their health is told without TLS. */
export function graphUrlsOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap(({ service, ready }) =>
    service === 'dgraph-alpha' ? [`https://${new URL(ready.url).host}`] : [],
  );
}

/** Where a node keeps its data, from the folder of the installation. */
export function dataOf(node: string): string {
  return `data/${node.replace('dgraph-', 'dgraph/')}`;
}
