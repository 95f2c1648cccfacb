import type { Definition } from '../../definition/definition.ts';
import { frontOf } from '../../front/front-of.ts';
import type { Part } from '../../part.ts';
import { serviceBind, usualBusPorts, usualPorts } from '../../ports/port-wishes.ts';

/** A port that a part listens on in its container, and where it is reached from outside. */
export interface Published {
  readonly containerPort: number;
  readonly host: string;
  readonly port: number;
}

/** Ports above 1023, which are nobody's: Docker passes those on that are root's. */
const oneHostPorts = { http: 8080, https: 8443 } as const;

/** What the front listens on in its container. */
export function frontPortsInside(definition: Definition): { readonly http: number; readonly https: number } {
  return frontOf(definition) === 'one-host' ? oneHostPorts : { ...oneHostPorts, http: usualPorts['remote-mcp'] };
}

/** How a part can be reached from this machine; none where nobody outside the platform's networks reaches it. */
export function publishedOf(
  { name, service }: Part,
  definition: Definition,
  ports: Readonly<Record<string, number>>,
): readonly Published[] {
  const { bind, bus } = definition;
  const front = frontOf(definition);
  const at = (containerPort: number, host: string, port = 0): Published => ({
    ...{ containerPort, port },
    host: addressOf(host),
  });
  switch (service) {
    case 'backend':
      // Behind one host name it is this machine's, for `svc` itself.
      return [at(usualPorts.backend, serviceBind(definition), ports.backend)];
    case 'frontend':
      return front === 'one-host' ? [] : [at(usualPorts.frontend, bind, ports.frontend)];
    case 'remote-mcp':
      return front !== null || name !== service ? [] : [at(usualPorts['remote-mcp'], bind, ports['remote-mcp'])];
    case 'caddy': {
      const { http, https } = frontPortsInside(definition);
      if (front !== 'one-host') return [at(http, bind, ports['remote-mcp'])];
      const open = at(http, bind, ports['caddy-http']);
      return definition.public.tls === 'none' ? [open] : [at(https, bind, ports['caddy-https']), open];
    }
    case 'nats':
      return bus.public === undefined ? [] : [at(usualBusPorts.nats, bus.public.bind, ports.nats)];
    case 'runtime':
    case 'dgraph-zero':
    case 'dgraph-alpha':
      return [];
  }
}

/** Docker publishes on addresses, not on names. */
function addressOf(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}
