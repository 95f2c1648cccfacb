import { publicBusKey } from '../secrets/bus-seeds.ts';
import type { SecretFiles } from '../secrets/secrets.ts';
import { fillPlaces } from './fill-places.ts';

type Values = Readonly<Record<string, string>>;

/** Fills the template with these values. Throws when a placeholder is left. */
export function natsConfiguration(values: Values): string {
  const places = { ...values, MONITORING: monitoringOf(values), CLUSTER: clusterOf(values) };
  return fillPlaces(new URL('../../templates/nats.conf', import.meta.url), places);
}

/** The monitoring shows every connection to every client. */
function monitoringOf({ HTTP_LISTEN }: Values): string {
  return HTTP_LISTEN === undefined ? '' : `http: ${JSON.stringify(HTTP_LISTEN)}`;
}

/** A node's configuration about the others: nodes authenticate each other by their shared secret. */
function clusterOf({ NAME, ROUTE_LISTEN, ROUTES, ROUTE_SECRET }: Values): string {
  if (ROUTES === undefined) return '';
  if (ROUTE_SECRET === undefined) throw new Error(`the nodes beside ${NAME} have no shared secret`);
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

/** The public keys of the backend's seeds, by which NATS knows it. */
export function busKeysOf(secrets: SecretFiles, readSecret: (file: string) => string): Values {
  return {
    CALLOUT_PUBLIC_KEY: publicBusKey(readSecret(secrets.busCalloutSeed)),
    SYSTEM_PUBLIC_KEY: publicBusKey(readSecret(secrets.busSystemSeed)),
    ISSUER_PUBLIC_KEY: publicBusKey(readSecret(secrets.busIssuerSeed)),
  };
}
