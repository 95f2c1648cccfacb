import { hasOneHost, sharedServices } from '../../front/front-of.ts';
import type { Part } from '../../part.ts';
import { loopback, replicaPortNames, serviceBind, usualBusPorts, usualPorts } from '../../ports/port-wishes.ts';
import type { Definition } from '../../settings/definition.ts';

/** A port that a part listens on in its container, and where it is reached from outside. */
export interface Published {
  readonly containerPort: number;
  readonly host: string;
  readonly port: number;
}

/** Of one host name, inside. Above 1023, which are nobody's: Docker passes those on that are root's. */
export const oneHostPorts = { http: 8080, https: 8443 } as const;

type Ports = Readonly<Record<string, number>>;

/** How a part can be reached from this machine; none where nobody outside the platform's networks reaches it. */
export function publishedOf(part: Part, definition: Definition, ports: Ports): readonly Published[] {
  const { bus } = definition;
  switch (part.service) {
    case 'backend':
    case 'remote-mcp':
      return isShared(part.service, definition)
        ? publishedBehind(part, definition, ports)
        : publishedService(part.service, definition, ports);
    case 'frontend':
      return publishedService('frontend', definition, ports);
    case 'caddy':
      return [
        ...publishedHost(definition, ports),
        ...sharedServices(definition).flatMap((service) => publishedService(service, definition, ports)),
      ];
    case 'nats':
      return bus.public === undefined ? [] : [at(usualBusPorts.nats, bus.public.bind, ports[part.name])];
    case 'runtime':
    case 'dgraph-zero':
    case 'dgraph-alpha':
      return [];
  }
}

/** Whether the address of a service is the front's. */
export function isShared(service: Part['service'], definition: Definition): boolean {
  return sharedServices(definition).some((shared) => shared === service);
}

/** The address of a service, be it one or several. Behind one host name the backend's alone is this machine's, for `svc` itself. */
function publishedService(
  service: 'backend' | 'remote-mcp' | 'frontend',
  definition: Definition,
  ports: Ports,
): readonly Published[] {
  if (hasOneHost(definition) && service !== 'backend') return [];
  return [at(usualPorts[service], serviceBind(definition), ports[service])];
}

/** `svc` itself asks each backend, whether the front is there or not. */
function publishedBehind({ name, service }: Part, definition: Definition, ports: Ports): readonly Published[] {
  if (service !== 'backend') return [];
  const [first = name] = replicaPortNames(service, definition);
  return [at(usualPorts.backend, loopback, ports[name === service ? first : name])];
}

function publishedHost(definition: Definition, ports: Ports): readonly Published[] {
  if (!hasOneHost(definition)) return [];
  const { bind, public: open } = definition;
  const http = at(oneHostPorts.http, bind, ports['caddy-http']);
  return open.tls === 'none' ? [http] : [at(oneHostPorts.https, bind, ports['caddy-https']), http];
}

function at(containerPort: number, host: string, port = 0): Published {
  return { containerPort, host: addressOf(host), port };
}

/** Docker publishes on addresses, not on names. */
function addressOf(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}
