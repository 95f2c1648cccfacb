import { join } from 'node:path';
import { httpAddress, reachable } from '../addresses.ts';
import type { EnvironmentOf } from '../environment.ts';
import type { Part } from '../part.ts';
import { httpPortOf, loopback, replicaNames, routePortOf } from '../ports/port-wishes.ts';
import { type TlsFiles, tlsFilesIn } from '../settings/certificate.ts';
import { busFolderOf } from './bus-folders.ts';
import { hasOwnBus } from './has-own-bus.ts';

/**
 * The nodes of the bus, unless somebody else runs it. None waits for another: of a cluster none is ready before most of them are there. They know
 * each other by a secret, and everybody else by public keys.
 */
export function busParts({ installation, definition, ports, secrets }: EnvironmentOf): readonly Part[] {
  if (!hasOwnBus(definition)) return [];
  const { bus, replicas } = definition;
  const bind = bus.public?.bind ?? loopback;
  const tls = bus.public?.tls == null ? null : tlsFilesIn(installation.dir, bus.public.tls);
  const nodes = replicaNames('nats', replicas.nats);
  const routeTo = (node: string) => hostAndPort(loopback, ports[routePortOf(node)]);
  return nodes.map((node) => {
    const others = nodes.filter((other) => other !== node);
    const routes: Record<string, string> =
      others.length === 0 ? {} : { ROUTE_LISTEN: routeTo(node), ROUTES: others.map(routeTo).join(',') };
    const url = `nats://${reachable(bind)}:${ports[node]}`;
    const httpPort = typeof bus.httpPort === 'number' ? ports[httpPortOf(node)] : undefined;
    return {
      name: node,
      service: 'nats',
      url,
      ready: { kind: 'nats', url, seedFile: secrets.busSystemSeed },
      ...(httpPort === undefined ? {} : { otherUrls: [httpAddress(loopback, httpPort)] }),
      after: [],
      variables: {
        NAME: node.replace('nats', `svc-${definition.id}`),
        LISTEN: hostAndPort(bind, ports[node]),
        STORE_DIR: join(installation.dataDir, busFolderOf(node, nodes.length)),
        TLS: tls === null ? '' : tlsOf(tls),
        ...(httpPort === undefined ? {} : { HTTP_LISTEN: hostAndPort(loopback, httpPort) }),
        ...routes,
      },
      // A certificate that was renewed is taken up like everything else that differs.
      secrets: [
        ...[secrets.busCalloutSeed, secrets.busSystemSeed, secrets.busIssuerSeed],
        ...(tls === null ? [] : [tls.cert, tls.key]),
      ],
    };
  });
}

function hostAndPort(host: string, port = 0): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** As nats-server reads it: its strings are those of JSON. */
function tlsOf({ cert, key }: TlsFiles): string {
  return `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)} }`;
}
