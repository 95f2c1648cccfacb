import type { ServiceName } from '../../services/contracts/env/variables.ts';
import type { Definition } from '../settings/definition.ts';
import { nodesOf } from '../settings/ports.ts';
import { variablesOf } from '../settings/setting.ts';
import { settings } from '../settings/settings.ts';
import { type Limits, type Part, type PartData, type Room, readyAt } from './part.ts';
import { addressOf, PartFiles, portOf, publishedBy, type Setup } from './setup.ts';

export interface ServiceTraits {
  readonly service: ServiceName;
  readonly after: readonly string[];
  readonly rooms: readonly Room[];
  /** Its variables that do not follow from one setting alone. `give` makes a file readable and returns its path. */
  readonly variables: (give: (file: string) => string, part: string) => Readonly<Record<string, string>>;
  readonly keeps?: (part: string) => PartData | null;
  readonly sees?: readonly string[];
  readonly limits?: Partial<Limits>;
}

export function serviceParts(setup: Setup, traits: ServiceTraits): readonly Part[] {
  return nodesOf(traits.service, setup.definition).map((name) => servicePart(name, setup, traits));
}

function servicePart(name: string, setup: Setup, traits: ServiceTraits): Part {
  const { definition, site } = setup;
  const { service, after, rooms, sees = [], variables, keeps, limits } = traits;
  const portVariable = service === 'backend' || service === 'frontend' ? 'PORT' : 'REMOTE_PORT';
  const wish = portOf(name, setup);
  const url = `http://${addressOf(wish, setup)}`;
  const files = new PartFiles(setup);
  const own = variables(files.give, name);
  return {
    ...{ name, service, url, after, rooms, sees },
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
    published: publishedBy(name, setup),
    limits: { ...limitsOf(service, definition), ...limits },
  };
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
