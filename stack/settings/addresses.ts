import { isLoopback } from '../../services/contracts/loopback.ts';
import type { ListenerName } from './choices.ts';
import { type Definition, hasOneHost, serviceBind } from './definition.ts';
import { frontPorts, type Ports } from './ports.ts';

/** All addresses of the platform: from this machine, and for people, browsers and agents. */
export interface Addresses {
  readonly local: Readonly<Record<ListenerName, string>>;
  readonly public: {
    readonly backend: string;
    readonly mcp: string;
    readonly frontend: string;
    /** For API keys alone; null if keys have no address of their own. */
    readonly keys: string | null;
  };
}

export function addressesOf(definition: Definition, ports: Ports): Addresses {
  const { publicUrls } = definition;
  const local = (port: number) => httpAddress(serviceBind(definition), port);
  const one = oneHost(definition, ports);
  const open = (url: string, port: number, path = '') =>
    url === 'auto' ? `${one ?? `http://localhost:${port}`}${path}` : url;
  return {
    local: {
      backend: local(ports.backend),
      'remote-mcp': local(ports['remote-mcp']),
      runtime: local(ports.runtime),
      frontend: local(ports.frontend),
    },
    public: {
      backend: open(publicUrls.backend, ports.backend),
      mcp: open(publicUrls.mcp, ports['remote-mcp'], '/mcp'),
      frontend: open(publicUrls.frontend, ports.frontend),
      // Another host than localhost, so that a client finds nothing of OAuth there.
      keys: publicUrls.keys === 'auto' ? `${local(ports['remote-mcp'])}/mcp` : (publicUrls.keys ?? null),
    },
  };
}

/** Null when each service has its own address. */
function oneHost(definition: Definition, ports: Ports): string | null {
  const { host, tls } = definition.public;
  if (!hasOneHost(definition)) return null;
  const [scheme, name] = tls === 'none' ? (['http', 'caddy-http'] as const) : (['https', 'caddy-https'] as const);
  // As a URL, which leaves out the usual port of its scheme.
  return new URL(`${scheme}://${host}:${ports[name] ?? frontPorts[name]}`).origin;
}

/** The address for clients on this machine. */
export function httpAddress(bind: string, port: number): string {
  return `http://${reachable(bind)}:${port}`;
}

/** A wildcard is not a destination. */
export function reachable(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1';
  if (bind === '::') return '[::1]';
  return bind.includes(':') ? `[${bind}]` : bind;
}

/** Notices about an unusual configuration of the proxy. */
export function frontNotices(definition: Definition): readonly string[] {
  const { bind } = definition;
  const { host = '', tls } = definition.public;
  // Without TLS another proxy on this machine is expected in front.
  if (!hasOneHost(definition) || tls === 'none') return [];
  if (!isLoopback(bind) || isLoopback(host)) return [];
  return [
    `https://${host} is reachable from this machine only: caddy listens on ${bind}. Set bind: 0.0.0.0 in svc.yaml, unless another program forwards to it.`,
  ];
}
