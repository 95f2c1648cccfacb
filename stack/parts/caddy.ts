import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { frontLooksEveryMs } from '../../services/contracts/drain.ts';
import { httpAddress, reachable } from '../settings/addresses.ts';
import {
  type Definition,
  hasOneHost,
  type SharedService,
  serviceBind,
  sharedServices,
} from '../settings/definition.ts';
import { loopback, nodesOf } from '../settings/ports.ts';
import { askWithWget } from './nats.ts';
import { type ForeignProgram, type Part, readyAt } from './part.ts';
import { limitsOf } from './service.ts';
import {
  addressAmongParts,
  addressOf,
  fillPlaces,
  fromFolder,
  PartFiles,
  portNamed,
  portOf,
  publishedBy,
  type Setup,
} from './setup.ts';

/** The proxy of services that share an address, or one host name. */
export function caddyParts(setup: Setup): readonly Part[] {
  return nodesOf('caddy', setup.definition).map((node) => caddyPart(node, setup));
}

function caddyPart(node: string, setup: Setup): Part {
  const { definition, ports, site } = setup;
  const isOneHost = hasOneHost(definition);
  const files = new PartFiles(setup);
  const shared = sharedServices(definition);
  const behind = (service: FrontService) =>
    isOneHost || shared.some((one) => one === service) ? nodesOf(service, definition) : [];
  const upstreams = (service: FrontService) =>
    behind(service).map((part) => addressAmongParts(portOf(part, setup), setup));
  const urls = [
    ...(isOneHost ? [httpAddress(definition.bind, ports['caddy-http'] ?? 0)] : []),
    ...shared.map((service) => `http://${addressOf(portNamed(service, setup), setup)}`),
  ];
  const [http = '', ...others] = urls;
  const https = `https://${reachable(definition.bind)}:${ports['caddy-https']}`;
  const hasTls = isOneHost && definition.public.tls !== 'none';
  const keeps = definition.public.tls === 'acme' ? { folder: node, volume: node } : null;
  const values = caddyfileValues({
    bind: site.listenOn(definition.bind),
    upstreams: {
      'remote-mcp': upstreams('remote-mcp'),
      backend: upstreams('backend'),
      frontend: upstreams('frontend'),
    },
    shared: {
      bind: site.listenOn(serviceBind(definition)),
      ports: Object.fromEntries(shared.map((service) => [service, site.ports[service]])),
    },
    // In data/, because authorities issue only a few certificates a week.
    storage: fromFolder(keeps === null ? site.scratchPathOf(node) : site.dataPathOf(keeps), setup),
    oneHost: isOneHost ? oneHostOf(setup, files) : null,
  });
  // Over HTTP, because no certificate covers its address on this machine.
  const asked = isOneHost ? 'caddy-http' : (shared[0] ?? '');
  return {
    ...{ name: node, service: 'caddy', rooms: ['platform'], sees: [], keeps, variables: values },
    url: hasTls ? https : http,
    otherUrls: others,
    ready: readyAt(site.isPrivate ? httpAddress(loopback, site.ports[asked] ?? 0) : http),
    after: services.flatMap(behind),
    program: programOf(values, site.scratchPathOf(node)),
    files: files.all(),
    // A renewed certificate restarts it, like every other difference.
    secrets: files.all().map(({ file }) => file),
    published: publishedBy(node, setup),
    limits: {
      ...limitsOf('caddy', definition),
      // The official image's program requests it, and the kernel starts no program that requests an unavailable
      // capability.
      capabilities: ['NET_BIND_SERVICE'],
    },
  };
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
type FrontService = (typeof services)[number];

export interface Front {
  /** Its listen address. */
  readonly bind: string;
  /** Hosts with their ports, by service. */
  readonly upstreams: Readonly<Record<FrontService, readonly string[]>>;
  /** The addresses that several processes of a service share. */
  readonly shared: { readonly bind: string; readonly ports: Readonly<Partial<Record<SharedService, number>>> };
  /** The folder of issued certificates. */
  readonly storage: string;
  /** Null: each service has its own address. */
  readonly oneHost: OneHost | null;
}

/** Everything under one host name. */
interface OneHost {
  readonly public: Definition['public'];
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Its public address, as an origin. */
  readonly origin: string;
}

/** Fills the template with these values. Throws when a placeholder is left. */
export function caddyfile(values: Part['variables']): string {
  const words = Object.assign({}, ...services.map((service) => wordsAbout(service, values[placeOf(service)] ?? '')));
  return fillPlaces(new URL('../../templates/Caddyfile', import.meta.url), { ...values, ...words });
}

/** The messages about a service without a ready process. */
function wordsAbout(service: FrontService, upstreams: string): Part['variables'] {
  const count = upstreams.split(' ').length;
  const none = count === 1 ? `The ${service} is not ready` : `None of the ${count} ${service}s is ready`;
  return { [`${placeOf(service)}_COUNT`]: String(count), [`${placeOf(service)}_NONE`]: none };
}

/** The values of the template's placeholders. */
export function caddyfileValues({ bind, upstreams, shared, storage, oneHost }: Front): Part['variables'] {
  const tls = oneHost?.public.tls ?? 'none';
  const sites = Object.keys(shared.ports).map((service) => `shared-${service}`);
  if (oneHost !== null) sites.push(tls === 'none' ? 'one-host' : 'one-host-over-tls');
  return {
    SITES: sites.map((site) => `import ${site}`).join('\n'),
    BIND: listening(bind),
    SHARED_BIND: listening(shared.bind),
    REMOTE_MCP_PORT: String(shared.ports['remote-mcp'] ?? ''),
    BACKEND_PORT: String(shared.ports.backend ?? ''),
    HTTP_PORT: String(oneHost?.httpPort ?? ''),
    HTTPS_PORT: String(oneHost?.httpsPort ?? ''),
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
