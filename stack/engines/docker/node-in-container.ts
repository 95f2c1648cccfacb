import { basename } from 'node:path';
import { usualDgraphPorts } from '../../graph/dgraph-ports.ts';
import type { ForeignService, Part } from '../../part.ts';
import { usualBusPorts, usualRoutePort } from '../../ports/port-wishes.ts';
import { dataDir, everywhere, givenDir, hostsOf } from './places-inside.ts';

/** A node of NATS or Dgraph, be it one of several or the only one. */
interface Node extends Part {
  readonly service: Exclude<ForeignService, 'caddy'>;
}

const { nats: busPort, 'nats-http': busHttpPort } = usualBusPorts;
const { zero, alpha } = usualDgraphPorts;

/** Where a node listens and keeps its data in its container, and by which names it finds the others. */
export function nodeInside({ service, name, variables }: Node, parts: readonly Part[]): Part['variables'] {
  const hosts = (kind: Node['service'], port: number) => hostsOf(kind, port, parts);
  switch (service) {
    case 'nats': {
      const others = hosts(service, usualRoutePort).filter((host) => host !== `${name}:${usualRoutePort}`);
      return {
        NAME: variables.NAME ?? name,
        LISTEN: `${everywhere}:${busPort}`,
        STORE_DIR: dataDir,
        HTTP_LISTEN: `127.0.0.1:${busHttpPort}`,
        ...(others.length === 0 ? {} : { ROUTE_LISTEN: `${everywhere}:${usualRoutePort}`, ROUTES: others.join(',') }),
      };
    }
    case 'dgraph-zero': {
      const [first = ''] = hosts(service, zero.grpc);
      const address = `${name}:${zero.grpc}`;
      return { ...dgraphInside, ADDRESS: address, PEER: address === first ? '' : first };
    }
    case 'dgraph-alpha':
      return {
        ...dgraphInside,
        ADDRESS: `${name}:${alpha.internal}`,
        ZERO: hosts('dgraph-zero', zero.grpc).join(','),
        ACL_KEY: `${givenDir}/${basename(variables.ACL_KEY ?? '')}`,
      };
  }
}

const dgraphInside = { BIND_ALL: 'true', PORT_OFFSET: '0', DATA: dataDir } as const;
