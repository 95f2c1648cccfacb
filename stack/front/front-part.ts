import { resolve } from 'node:path';
import { httpAddress, reachable } from '../addresses.ts';
import type { EnvironmentOf } from '../environment.ts';
import { type Part, readyAt } from '../part.ts';
import { serviceBind } from '../ports/port-wishes.ts';
import { caddyfileValues, type FrontService, type OneHost, type Shared } from './caddyfile.ts';
import { hasFront, hasOneHost, sharedServices } from './front-of.ts';

/** In data/, because authorities give certificates a few a week. */
const storage = 'data/caddy';

type Behind = Readonly<Record<FrontService, readonly Part[]>>;

/** What stands before services that share an address, or one host name; null where each is reached by itself. */
export function frontPart(of: EnvironmentOf, behind: Behind): Part | null {
  const { definition } = of;
  if (!hasFront(definition)) return null;
  const oneHost = hasOneHost(definition) ? oneHostOf(of) : null;
  const shared = sharedOf(of);
  const stands = oneHost === null ? onlyShared(behind, shared) : behind;
  const addresses = Object.values(shared.ports).map((port) => httpAddress(shared.bind, port));
  const [first = '', ...others] = addresses;
  const reached =
    oneHost === null
      ? { url: first, ready: readyAt(first), otherUrls: others, secrets: [] }
      : { ...reachedByName(of, oneHost), otherUrls: addresses };
  return {
    ...{
      name: 'caddy',
      service: 'caddy',
      after: Object.values(stands).flatMap((parts) => parts.map(({ name }) => name)),
    },
    ...reached,
    variables: caddyfileValues({ bind: definition.bind, upstreams: upstreamsOf(stands), shared, storage, oneHost }),
  };
}

function sharedOf({ definition, ports }: EnvironmentOf): Shared {
  const shared = sharedServices(definition).map((service) => [service, ports[service]]);
  return { bind: serviceBind(definition), ports: Object.fromEntries(shared) };
}

/** What is reached by itself has no front. */
function onlyShared(behind: Behind, { ports }: Shared): Behind {
  const of = (service: keyof Shared['ports']) => (ports[service] === undefined ? [] : behind[service]);
  return { 'remote-mcp': of('remote-mcp'), backend: of('backend'), frontend: [] };
}

function oneHostOf({ definition, addresses, ports }: EnvironmentOf): OneHost {
  const [httpPort = 0, httpsPort = 0] = [ports['caddy-http'], ports['caddy-https']];
  return { public: definition.public, httpPort, httpsPort, origin: new URL(addresses.public.backend).origin };
}

/** Asked without TLS whether it is ready: no certificate is for the address that this machine reaches it at. */
function reachedByName(
  { installation, definition: { bind } }: EnvironmentOf,
  { public: open, httpPort, httpsPort }: OneHost,
) {
  const http = httpAddress(bind, httpPort);
  const files = [open.cert, open.key, open.acme.ca].filter((file) => file !== undefined);
  return {
    url: open.tls === 'none' ? http : `https://${reachable(bind)}:${httpsPort}`,
    ready: readyAt(http),
    // What was renewed is taken up like everything else that differs.
    secrets: files.map((file) => resolve(installation.dir, file)),
  };
}

function upstreamsOf({ 'remote-mcp': remoteMcps, backend, frontend }: Behind): Record<FrontService, readonly string[]> {
  const hostsOf = (parts: readonly Part[]) => parts.map(({ url }) => new URL(url).host);
  return { 'remote-mcp': hostsOf(remoteMcps), backend: hostsOf(backend), frontend: hostsOf(frontend) };
}
