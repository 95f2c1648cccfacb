import type { ServiceName } from '../../services/contracts/env/variables.ts';
import { serviceBind } from '../settings/addresses.ts';
import type { Definition } from '../settings/definition.ts';
import { hasOneHost, sharedServices } from '../settings/definition.ts';
import { usualPorts } from '../settings/ports.ts';
import { variablesOf } from '../settings/setting.ts';
import { settings } from '../settings/settings.ts';
import { type Limits, type Part, type PartData, type Room, readyAt } from './part.ts';
import type { PortWish } from './port-wish.ts';
import { addressOf, PartFiles, publishedBy, type Setup } from './setup.ts';

/** The port of a service. With several processes, the proxy listens there. */
export function serviceWish(service: ServiceName, definition: Definition): PortWish {
  const isShared = sharedServices(definition).some((one) => one === service);
  return {
    name: service,
    part: isShared ? 'caddy' : service,
    wanted: definition.ports[service],
    usual: usualPorts[service],
    inside: usualPorts[service],
    host: serviceBind(definition),
    place: `ports.${service}`,
    // Under one host name, only the proxy is reachable, and the backend for the command line.
    isPublished: service === 'backend' || (service !== 'runtime' && !hasOneHost(definition)),
  };
}

/** The differences between services. */
export interface ServiceTraits {
  readonly service: ServiceName;
  readonly wishes: readonly PortWish[];
  readonly after: readonly string[];
  readonly rooms: readonly Room[];
  /**
   * Its variables that do not follow from one setting alone. `give` makes a file readable for it and returns the path.
   */
  readonly variables: (give: (file: string) => string, part: string) => Readonly<Record<string, string>>;
  readonly keeps?: (part: string) => PartData | null;
  readonly sees?: readonly string[];
  readonly limits?: Partial<Limits>;
}

/** The processes of a service: one for each port that the proxy does not take. */
export function serviceParts(setup: Setup, traits: ServiceTraits): readonly Part[] {
  const { definition, site } = setup;
  const { service, wishes, variables, keeps, limits } = traits;
  const portVariable = service === 'backend' || service === 'frontend' ? 'PORT' : 'REMOTE_PORT';
  return wishes.flatMap((wish): readonly Part[] => {
    const name = wish.part;
    if (name === 'caddy') return [];
    const files = new PartFiles(setup);
    const url = `http://${addressOf(wish, setup)}`;
    const own = variables(files.give, name);
    return [
      {
        ...{ name, service, url, after: traits.after, rooms: traits.rooms, sees: traits.sees ?? [] },
        ready: readyAt(site.isPrivate ? `http://127.0.0.1:${wish.inside}` : url),
        program: { kind: 'service', service },
        variables: {
          NODE_ENV: 'production',
          BIND_HOST: site.listenOn(wish.host),
          [portVariable]: String(site.ports[wish.name]),
          ...variablesOf(settings, service, definition),
          ...own,
          ...definition.environment[service],
        },
        files: files.all(),
        secrets: files.all().map(({ file }) => file),
        keeps: keeps?.(name) ?? null,
        published: publishedBy(name, wishes, setup),
        limits: { ...limitsOf(service, definition), ...limits },
      },
    ];
  });
}

/** The limits of a part that runs no MCP servers. */
export function limitsOf(service: Part['service'], { limits }: Definition, startSecondsUsual = 60): Limits {
  const { memoryMaxMb, startSecondsMax } = limits;
  return {
    startMaxMs: 1000 * (startSecondsMax === 'auto' ? startSecondsUsual : startSecondsMax),
    memoryMaxMb: memoryMaxMb[service],
    processesMax: 128,
    temporary: { sizeMb: 64, isExecutable: false },
    capabilities: [],
  };
}
