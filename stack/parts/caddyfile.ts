import { isIPv4 } from 'node:net';
import { frontLooksEveryMs } from '../../services/contracts/drain.ts';
import type { Definition } from '../settings/definition.ts';
import type { SharedService } from '../settings/front-of.ts';
import { fillPlaces } from './fill-places.ts';

const services = ['remote-mcp', 'backend', 'frontend'] as const;
/** The services behind the proxy. */
export type FrontService = (typeof services)[number];

export interface Front {
  /** Its listen address. */
  readonly bind: string;
  /** Hosts with their ports, by service. */
  readonly upstreams: Readonly<Record<FrontService, readonly string[]>>;
  readonly shared: Shared;
  /** The folder of issued certificates. */
  readonly storage: string;
  /** Null: each service has its own address. */
  readonly oneHost: OneHost | null;
}

/** The addresses that replicas of a service share. */
export interface Shared {
  readonly bind: string;
  /** Without services that have one process. */
  readonly ports: Readonly<Partial<Record<SharedService, number>>>;
}

/** Everything under one host name. */
export interface OneHost {
  readonly public: Definition['public'];
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Its public address, as an origin. */
  readonly origin: string;
}

/** Fills the template with these values. Throws when a placeholder is left. */
export function caddyfile(values: Readonly<Record<string, string>>): string {
  const words = Object.assign({}, ...services.map((service) => wordsAbout(service, values[placeOf(service)] ?? '')));
  return fillPlaces(new URL('../../templates/Caddyfile', import.meta.url), { ...values, ...words });
}

/** The messages about a service without a ready process. */
function wordsAbout(service: FrontService, upstreams: string): Readonly<Record<string, string>> {
  const count = upstreams.split(' ').length;
  const none = count === 1 ? `The ${service} is not ready` : `None of the ${count} ${service}s is ready`;
  return { [`${placeOf(service)}_COUNT`]: String(count), [`${placeOf(service)}_NONE`]: none };
}

/** The values of the template's placeholders. */
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
    // It manages certificates only when it gets them by itself.
    AUTO_HTTPS: tls === 'acme' ? 'disable_redirects' : 'off',
    STORAGE: storage,
    LOOK_INTERVAL: `${frontLooksEveryMs}ms`,
    ...Object.fromEntries(services.map((service) => [placeOf(service), upstreams[service].join(' ')])),
  };
}

/** Without the prefix, 0.0.0.0 would mean every IPv6 network as well, unlike for other parts. */
function listening(bind: string): string {
  return isIPv4(bind) ? `tcp4/${bind}` : bind;
}

function placeOf(service: FrontService): string {
  return service.toUpperCase().replace('-', '_');
}

/** Paths are relative to Caddy's working directory; none contains a quote or a brace (settings/settings.ts). */
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
        // The ports for the authority's challenges, possibly forwarded by another program.
        `alt_http_port ${httpPort}`,
        `alt_tlsalpn_port ${httpsPort}`,
      ];
      return `tls {\n\t\t\tissuer acme {\n${options.map((option) => `\t\t\t\t${option}\n`).join('')}\t\t\t}\n\t\t}`;
    }
  }
}
