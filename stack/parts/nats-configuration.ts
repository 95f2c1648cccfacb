import { publicBusKey } from '../secrets/bus-seeds.ts';
import type { SecretFiles } from '../secrets/secrets.ts';
import { fillPlaces } from './fill-places.ts';

type Values = Readonly<Record<string, string>>;

/** The template with these values in its places. Throws where one is left open. */
export function natsConfiguration(values: Values): string {
  const places = { ...values, MONITORING: monitoringOf(values), CLUSTER: clusterOf(values) };
  return fillPlaces(new URL('../../templates/nats.conf', import.meta.url), places);
}

/** Everybody who reaches it sees who is connected. */
function monitoringOf({ HTTP_LISTEN }: Values): string {
  return HTTP_LISTEN === undefined ? '' : `http: ${JSON.stringify(HTTP_LISTEN)}`;
}

/** What a node is told of the others, where there are any: whoever speaks with it as one of them must know their secret. */
function clusterOf({ NAME, ROUTE_LISTEN, ROUTES, ROUTE_SECRET }: Values): string {
  if (ROUTES === undefined) return '';
  if (ROUTE_SECRET === undefined) throw new Error(`nobody said how the nodes beside ${NAME} know each other`);
  const user = 'node';
  const routes = ROUTES.split(',').map((address) => `nats-route://${user}:${ROUTE_SECRET}@${address}`);
  return `cluster {
  name: svc
  listen: ${JSON.stringify(ROUTE_LISTEN)}
  # Clients know all nodes, under the addresses that are right for them.
  no_advertise: true
  authorization { user: ${user}, password: ${JSON.stringify(ROUTE_SECRET)}, timeout: 2 }
  routes: ${JSON.stringify(routes)}
}`;
}

/** The public halves of the seeds that are the backend's: NATS knows it by them. */
export function busKeysOf(secrets: SecretFiles, readSecret: (file: string) => string): Values {
  return {
    CALLOUT_PUBLIC_KEY: publicBusKey(readSecret(secrets.busCalloutSeed)),
    SYSTEM_PUBLIC_KEY: publicBusKey(readSecret(secrets.busSystemSeed)),
    ISSUER_PUBLIC_KEY: publicBusKey(readSecret(secrets.busIssuerSeed)),
  };
}
