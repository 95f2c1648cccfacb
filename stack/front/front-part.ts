import { resolve } from 'node:path';
import { httpAddress, reachable } from '../addresses.ts';
import type { EnvironmentOf } from '../environment.ts';
import type { Part } from '../part.ts';
import { caddyfileValues, type FrontService } from './caddyfile.ts';
import { frontOf } from './front-of.ts';

/** In data/, because authorities give certificates a few a week. */
const storage = 'data/caddy';

type Behind = Readonly<Record<FrontService, readonly Part[]>>;

/** What shares one address among several remote-mcps, or one host name among everything; null where each service is reached by itself. */
export function frontPart(of: EnvironmentOf, behind: Behind): Part | null {
  switch (frontOf(of.definition)) {
    case null:
      return null;
    case 'remote-mcps':
      return beforeRemoteMcps(of, { ...behind, backend: [], frontend: [] });
    case 'one-host':
      return underOneHost(of, behind);
  }
}

/** Ready while one of them is: it passes the question on. */
function beforeRemoteMcps({ definition: { bind }, ports }: EnvironmentOf, behind: Behind): Part {
  const httpPort = ports['remote-mcp'];
  const url = httpAddress(bind, httpPort);
  return {
    ...partBefore(behind),
    url,
    readyUrl: `${url}/ready`,
    variables: caddyfileValues({ bind, httpPort, upstreams: upstreamsOf(behind), storage, oneHost: null }),
    secrets: [],
  };
}

/** Asked without TLS whether it is ready: no certificate is for the address that this machine reaches it at. */
function underOneHost({ installation, definition, addresses, ports }: EnvironmentOf, behind: Behind): Part {
  const { bind, public: open } = definition;
  const [httpPort = 0, httpsPort = 0] = [ports['caddy-http'], ports['caddy-https']];
  const http = httpAddress(bind, httpPort);
  const oneHost = { public: open, httpsPort, origin: new URL(addresses.public.backend).origin };
  const files = [open.cert, open.key, open.acme.ca].filter((file) => file !== undefined);
  return {
    ...partBefore(behind),
    url: open.tls === 'none' ? http : `https://${reachable(bind)}:${httpsPort}`,
    readyUrl: `${http}/ready`,
    variables: caddyfileValues({ bind, httpPort, upstreams: upstreamsOf(behind), storage, oneHost }),
    // What was renewed is taken up like everything else that differs.
    secrets: files.map((file) => resolve(installation.dir, file)),
  };
}

function partBefore(behind: Behind): Pick<Part, 'name' | 'service' | 'after'> {
  const after = Object.values(behind).flatMap((parts) => parts.map(({ name }) => name));
  return { name: 'caddy', service: 'caddy', after };
}

function upstreamsOf({ 'remote-mcp': remoteMcps, backend, frontend }: Behind): Record<FrontService, readonly string[]> {
  const hostsOf = (parts: readonly Part[]) => parts.map(({ url }) => new URL(url).host);
  return { 'remote-mcp': hostsOf(remoteMcps), backend: hostsOf(backend), frontend: hostsOf(frontend) };
}
