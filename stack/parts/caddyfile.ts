import { isIPv4 } from 'node:net';
import { frontLooksEveryMs } from '../../services/contracts/drain.ts';
import type { Definition } from '../settings/definition.ts';
import type { SharedService } from '../settings/front-of.ts';
import { fillPlaces } from './fill-places.ts';

const services = ['remote-mcp', 'backend', 'frontend'] as const;
/** What the front stands before. */
export type FrontService = (typeof services)[number];

export interface Front {
  /** What it listens on. */
  readonly bind: string;
  /** Hosts with their ports, by service. */
  readonly upstreams: Readonly<Record<FrontService, readonly string[]>>;
  readonly shared: Shared;
  /** The folder of certificates that were got. */
  readonly storage: string;
  /** Null: each service has an address of its own. */
  readonly oneHost: OneHost | null;
}

/** The addresses that several of a service have together. */
export interface Shared {
  readonly bind: string;
  /** None of a service that is alone. */
  readonly ports: Readonly<Partial<Record<SharedService, number>>>;
}

/** Everything under one host name. */
export interface OneHost {
  readonly public: Definition['public'];
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Where it is reached, as an origin. */
  readonly origin: string;
}

/** The template with these values in its places. Throws where one is left open. */
export function caddyfile(values: Readonly<Record<string, string>>): string {
  const words = Object.assign({}, ...services.map((service) => wordsAbout(service, values[placeOf(service)] ?? '')));
  return fillPlaces(new URL('../../templates/Caddyfile', import.meta.url), { ...values, ...words });
}

/** What is said of a service where nobody answers for it. */
function wordsAbout(service: FrontService, upstreams: string): Readonly<Record<string, string>> {
  const count = upstreams.split(' ').length;
  const none = count === 1 ? `The ${service} is not ready` : `None of the ${count} ${service}s is ready`;
  return { [`${placeOf(service)}_COUNT`]: String(count), [`${placeOf(service)}_NONE`]: none };
}

/** What stands in the places of the template, but for what follows from that. */
export function caddyfileValues({
  bind,
  upstreams,
  shared,
  storage,
  oneHost,
}: Front): Readonly<Record<string, string>> {
  const tls = oneHost?.public.tls ?? 'none';
  const sites = Object.keys(shared.ports).map((service) => `shared-${service}`);
  if (oneHost !== null) sites.push(tls === 'none' ? 'one-host' : 'one-host-over-tls');
  return {
    SITES: sites.map((site) => `import ${site}`).join('\n'),
    BIND: listening(bind),
    SHARED_BIND: listening(shared.bind),
    REMOTE_MCP_PORT: String(shared.ports['remote-mcp'] ?? ''),
    BACKEND_PORT: String(shared.ports.backend ?? ''),
    HTTP_PORT: oneHost === null ? '' : String(oneHost.httpPort),
    HTTPS_PORT: oneHost === null ? '' : String(oneHost.httpsPort),
    HOST: oneHost?.public.host ?? '',
    ORIGIN: oneHost?.origin ?? '',
    TLS: oneHost === null ? '' : tlsOf(oneHost),
    // It looks after certificates only where it gets them.
    AUTO_HTTPS: tls === 'acme' ? 'disable_redirects' : 'off',
    STORAGE: storage,
    LOOK_INTERVAL: `${frontLooksEveryMs}ms`,
    ...Object.fromEntries(services.map((service) => [placeOf(service), upstreams[service].join(' ')])),
  };
}

/** Without it 0.0.0.0 would mean every IPv6 network as well, which it does for no other part. */
function listening(bind: string): string {
  return isIPv4(bind) ? `tcp4/${bind}` : bind;
}

function placeOf(service: FrontService): string {
  return service.toUpperCase().replace('-', '_');
}

/** Its paths are meant from the folder that Caddy runs in; none holds a quote or a brace (settings/public-host.ts). */
function tlsOf({ public: { tls, cert, key, acme }, httpPort, httpsPort }: OneHost): string {
  switch (tls) {
    case 'none':
      return '';
    case 'files':
      return `tls "${cert}" "${key}"`;
    case 'acme': {
      const options = [
        `dir "${acme.directory}"`,
        ...(acme.email === undefined ? [] : [`email "${acme.email}"`]),
        ...(acme.ca === undefined ? [] : [`trusted_roots "${acme.ca}"`]),
        // Where the authority's questions arrive here, be it that something passes them on.
        `alt_http_port ${httpPort}`,
        `alt_tlsalpn_port ${httpsPort}`,
      ];
      return `tls {\n\t\t\tissuer acme {\n${options.map((option) => `\t\t\t\t${option}\n`).join('')}\t\t\t}\n\t\t}`;
    }
  }
}
