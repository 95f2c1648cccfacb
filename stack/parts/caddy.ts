import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { frontLooksEveryMs } from '../../services/contracts/drain.ts';
import { httpAddress, reachable, serviceBind } from '../settings/addresses.ts';
import type { Definition, SharedService } from '../settings/definition.ts';
import { hasFront, hasOneHost, sharedServices, usualFrontPorts } from '../settings/definition.ts';
import { loopback } from '../settings/ports.ts';
import { backend } from './backend.ts';
import { frontend } from './frontend.ts';
import { askWithWget } from './nats.ts';
import { type ForeignProgram, type Part, readyAt } from './part.ts';
import type { PortWish } from './port-wish.ts';
import { remoteMcp } from './remote-mcp.ts';
import { limitsOf, serviceWish } from './service.ts';
import {
  addressAmongParts,
  addressOf,
  fillPlaces,
  fromFolder,
  PartFiles,
  type PartKind,
  publishedBy,
  type Setup,
} from './setup.ts';

/** The proxy of services that share an address, or one host name. */
export const caddy: PartKind = {
  nodes: (definition) => (hasFront(definition) ? ['caddy'] : []),
  wishes: hostWishes,
  parts: (setup) => caddy.nodes(setup.definition).map((node) => partOf(node, setup)),
};

/** Its own ports, under one host name. Private sites use ports above 1023, which need no privilege. */
export function hostWishes(definition: Definition): readonly PortWish[] {
  if (!hasOneHost(definition)) return [];
  const { tls, httpsPort, httpPort } = definition.public;
  const { 'caddy-https': https, 'caddy-http': http } = usualFrontPorts;
  const both = { part: 'caddy', host: definition.bind, isPublished: true };
  const open = { ...both, name: 'caddy-http', wanted: httpPort, usual: http, inside: 8080, place: 'public.httpPort' };
  if (tls === 'none') return [open];
  const closed = { name: 'caddy-https', wanted: httpsPort, usual: https, inside: 8443, place: 'public.httpsPort' };
  return [{ ...both, ...closed }, open];
}

/** The ports that services share. */
function sharedWishes(definition: Definition): readonly PortWish[] {
  return sharedServices(definition).map((service) => serviceWish(service, definition));
}

function partOf(node: string, setup: Setup): Part {
  const { definition, ports, site } = setup;
  const isOneHost = hasOneHost(definition);
  const files = new PartFiles(setup);
  const behind = partsBehind(setup.definition);
  const wishes = [...hostWishes(definition), ...sharedWishes(definition)];
  const shared = sharedWishes(definition).map((wish) => `http://${addressOf(wish, setup)}`);
  const [first = '', ...others] = shared;
  const http = isOneHost ? httpAddress(definition.bind, ports['caddy-http'] ?? 0) : first;
  const https = `https://${reachable(definition.bind)}:${ports['caddy-https']}`;
  const keeps = definition.public.tls === 'acme' ? { folder: node, volume: node } : null;
  const values = caddyfileValues({
    bind: site.listenOn(definition.bind),
    upstreams: upstreamsOf(behind, setup),
    shared: sharedOf(setup),
    // In data/, because authorities issue only a few certificates a week.
    storage: fromFolder(keeps === null ? site.scratchPathOf(node) : site.dataPathOf(keeps), setup),
    oneHost: isOneHost ? oneHostOf(setup, files) : null,
  });
  // Over HTTP, because no certificate covers its address on this machine.
  const asked = isOneHost ? 'caddy-http' : (sharedServices(definition)[0] ?? '');
  return {
    ...{ name: node, service: 'caddy', rooms: ['platform'], sees: [], keeps },
    url: isOneHost && definition.public.tls !== 'none' ? https : http,
    otherUrls: isOneHost ? shared : others,
    ready: readyAt(site.isPrivate ? httpAddress(loopback, site.ports[asked] ?? 0) : http),
    after: Object.values(behind).flatMap((those) => those.map(({ part }) => part)),
    program: programOf(values, site.scratchPathOf(node)),
    variables: values,
    files: files.all(),
    // A renewed certificate restarts it, like every other difference.
    secrets: files.all().map(({ file }) => file),
    published: publishedBy(node, wishes, setup),
    limits: {
      ...limitsOf('caddy', definition),
      // The official image's program requests it, and the kernel starts no program that requests an unavailable
      // capability.
      capabilities: ['NET_BIND_SERVICE'],
    },
  };
}

/** The ports of the parts behind it, by service. A service with its own address has no proxy. */
type Behind = Readonly<Record<FrontService, readonly PortWish[]>>;

function partsBehind(definition: Definition): Behind {
  const shared: readonly string[] = sharedServices(definition);
  const of = (service: FrontService, { wishes }: PartKind) =>
    hasOneHost(definition) || shared.includes(service) ? wishes(definition).filter(({ part }) => part !== 'caddy') : [];
  return {
    'remote-mcp': of('remote-mcp', remoteMcp),
    backend: of('backend', backend),
    frontend: of('frontend', frontend),
  };
}

function upstreamsOf(behind: Behind, setup: Setup): Record<FrontService, readonly string[]> {
  const hosts = (wishes: readonly PortWish[]) => wishes.map((wish) => addressAmongParts(wish, setup));
  return {
    'remote-mcp': hosts(behind['remote-mcp']),
    backend: hosts(behind.backend),
    frontend: hosts(behind.frontend),
  };
}

function sharedOf({ definition, site }: Setup): Shared {
  const shared = sharedServices(definition).map((service) => [service, site.ports[service]]);
  return { bind: site.listenOn(serviceBind(definition)), ports: Object.fromEntries(shared) };
}

function oneHostOf({ installation, definition, addresses, site }: Setup, files: PartFiles): OneHost {
  const { public: open } = definition;
  const give = (path: string | undefined) => {
    if (path === undefined) return undefined;
    const given = files.give(resolve(installation.dir, path));
    // It runs in the folder of the installation.
    return site.isPrivate ? given : path;
  };
  return {
    public: { ...open, cert: give(open.cert), key: give(open.key), acme: { ...open.acme, ca: give(open.acme.ca) } },
    httpPort: site.ports['caddy-http'] ?? 0,
    httpsPort: site.ports['caddy-https'] ?? 0,
    origin: new URL(addresses.public.backend).origin,
  };
}

function programOf(values: Part['variables'], home: string): ForeignProgram {
  return {
    ...{ kind: 'foreign', command: 'caddy', image: 'caddy' },
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    // Its log lines have times without a zone, and it stores its last configuration in its home.
    environment: { TZ: 'UTC', HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
    configuration: { name: 'Caddyfile', write: () => caddyfile(values) },
    ask: askWithWget,
  };
}

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
