import { createHmac } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { frontLooksEveryMs } from '../../services/contracts/drain.ts';
import { frontProofText } from '../../services/contracts/front-proof.ts';
import { httpAddress, reachable } from '../settings/addresses.ts';
import { type Definition, hasOneHost, serviceBind, sharedServices } from '../settings/definition.ts';
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

export function caddyParts(setup: Setup): readonly Part[] {
  return nodesOf('caddy', setup.definition).map((node) => caddyPart(node, setup));
}

function caddyPart(node: string, setup: Setup): Part {
  const { definition, ports, site } = setup;
  const { bind, public: open } = definition;
  const isOneHost = hasOneHost(definition);
  const shared = sharedServices(definition);
  const urls = [
    ...(isOneHost ? [httpAddress(bind, ports['caddy-http'] ?? 0)] : []),
    ...shared.map((service) => `http://${addressOf(portNamed(service, setup), setup)}`),
  ];
  const [http = '', ...others] = urls;
  const files = new PartFiles(setup);
  const keeps = open.tls === 'acme' ? { folder: node, volume: node } : null;
  // In data/, because authorities issue only a few certificates a week.
  const storage = keeps === null ? site.scratchPathOf(node) : site.dataPathOf(keeps);
  const values = { ...valuesOf(setup, files), STORAGE: fromFolder(storage, setup) };
  // Over HTTP, because no certificate covers its address on this machine.
  const asked = isOneHost ? 'caddy-http' : (shared[0] ?? '');
  return {
    ...{ name: node, service: 'caddy', rooms: ['platform'], sees: [], keeps, variables: values },
    url: isOneHost && open.tls !== 'none' ? `https://${reachable(bind)}:${ports['caddy-https']}` : http,
    otherUrls: others,
    ready: readyAt(site.isPrivate ? httpAddress(loopback, site.ports[asked] ?? 0) : http),
    after: services.flatMap((service) => behind(service, definition)),
    program: programOf(values, site.scratchPathOf(node), setup),
    files: files.all(),
    // A renewed certificate restarts it, like every other difference.
    secrets: [...files.all().map(({ file }) => file), setup.secrets.encryptionKey],
    published: publishedBy(node, setup),
    limits: {
      ...limitsOf('caddy', definition),
      // The official image's program requests it, and the kernel starts no program that requests an unavailable
      // capability.
      capabilities: ['NET_BIND_SERVICE'],
    },
  };
}

function programOf(values: Part['variables'], home: string, { definition, secrets }: Setup): ForeignProgram {
  return {
    ...{ kind: 'foreign', command: 'caddy', image: 'caddy' },
    neededBy: hasOneHost(definition) ? 'public.host' : `replicas.${sharedServices(definition)[0]} above 1`,
    ...{ oldest: '2.6', askVersion: ['version'] },
    howToInstall:
      'Install it: the package caddy of your system, or go install github.com/caddyserver/caddy/v2/cmd/caddy@latest.',
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    // Its log lines have times without a zone, and it stores its last configuration in its home.
    environment: { TZ: 'UTC', HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
    configuration: {
      name: 'Caddyfile',
      write: ({ readSecret }) => caddyfile(values, frontProof(readSecret(secrets.encryptionKey))),
    },
    ask: askWithWget,
  };
}

const services = ['remote-mcp', 'backend', 'frontend'] as const;
type FrontService = (typeof services)[number];

function behind(service: FrontService, definition: Definition): readonly string[] {
  const isBehind = hasOneHost(definition) || sharedServices(definition).some((one) => one === service);
  return isBehind ? nodesOf(service, definition) : [];
}

function frontProof(encryptionKey: string): string {
  return createHmac('sha256', encryptionKey).update(frontProofText).digest('hex');
}

/** The proof is a secret, so it is in no variable. */
export function caddyfile(values: Part['variables'], proof: string): string {
  const countOf = (place: string) => String(values[place]?.split(' ').length);
  const counts = services.map(placeOf).map((place) => [`${place}_COUNT`, countOf(place)]);
  const template = new URL('../../templates/Caddyfile', import.meta.url);
  return fillPlaces(template, { ...values, FRONT_PROOF: proof, ...Object.fromEntries(counts) });
}

function valuesOf(setup: Setup, files: PartFiles): Part['variables'] {
  const { definition, addresses, site } = setup;
  const { host, tls } = definition.public;
  const isOneHost = hasOneHost(definition);
  const shared: readonly FrontService[] = sharedServices(definition);
  const sites = shared.map((service) => `shared-${service}`);
  const ending = tls === 'none' ? '' : '-over-tls';
  if (isOneHost) sites.push(`one-host${ending}`);
  const keys = isOneHost && addresses.public.keys !== null ? new URL(addresses.public.keys) : null;
  if (keys !== null) sites.push(`keys-host${ending}`);
  const sharedPort = (service: FrontService) => (shared.includes(service) ? String(site.ports[service]) : '');
  const hostPort = (name: string) => (isOneHost ? String(site.ports[name] ?? 0) : '');
  const upstreams = (service: FrontService) =>
    behind(service, definition).map((part) => addressAmongParts(portOf(part, setup), setup));
  return {
    SITES: sites.map((one) => `import ${one}`).join('\n'),
    BIND: listening(site.listenOn(definition.bind)),
    SHARED_BIND: listening(site.listenOn(serviceBind(definition))),
    REMOTE_MCP_PORT: sharedPort('remote-mcp'),
    BACKEND_PORT: sharedPort('backend'),
    HTTP_PORT: hostPort('caddy-http'),
    HTTPS_PORT: hostPort('caddy-https'),
    HOST: host ?? '',
    KEYS_HOST: keys?.hostname ?? '',
    KEYS_ORIGIN: keys?.origin ?? '',
    ORIGIN: isOneHost ? new URL(addresses.public.backend).origin : '',
    TLS: tlsOf(setup, files),
    // It manages certificates only when it gets them by itself.
    AUTO_HTTPS: tls === 'acme' ? 'disable_redirects' : 'off',
    LOOK_INTERVAL: `${frontLooksEveryMs}ms`,
    TRUSTED_PROXIES: trusting(definition),
    ...Object.fromEntries(services.map((service) => [placeOf(service), upstreams(service).join(' ')])),
  };
}

/** Without the prefix, 0.0.0.0 would mean every IPv6 network as well, unlike for other parts. */
function listening(bind: string): string {
  return isIPv4(bind) ? `tcp4/${bind}` : bind;
}

/** Caddy passes on what these proxies wrote to X-Forwarded-For, and replaces what others did. */
function trusting({ trustedProxies }: Definition): string {
  return trustedProxies.length === 0 ? '' : `trusted_proxies ${trustedProxies.join(' ')}`;
}

function placeOf(service: FrontService): string {
  return service.toUpperCase().replace('-', '_');
}

/** Paths are relative to Caddy's working directory; none contains a quote or a brace (settings/settings.ts). */
function tlsOf({ installation, definition, site }: Setup, files: PartFiles): string {
  const { tls, cert, key, acme } = definition.public;
  const give = (path: string) => {
    const given = files.give(resolve(installation.dir, path));
    // It runs in the folder of the installation.
    return site.isPrivate ? given : path;
  };
  switch (tls) {
    case 'none':
      return '';
    case 'files':
      return `tls "${give(cert ?? '')}" "${give(key ?? '')}"`;
    case 'acme': {
      const options = [
        `dir "${acme.directory}"`,
        ...(acme.email === undefined ? [] : [`email "${acme.email}"`]),
        ...(acme.ca === undefined ? [] : [`trusted_roots "${give(acme.ca)}"`]),
        // The ports for the authority's challenges, possibly forwarded by another program.
        `alt_http_port ${site.ports['caddy-http'] ?? 0}`,
        `alt_tlsalpn_port ${site.ports['caddy-https'] ?? 0}`,
      ];
      return `tls {\n\t\t\tissuer acme {\n${options.map((option) => `\t\t\t\t${option}\n`).join('')}\t\t\t}\n\t\t}`;
    }
  }
}
