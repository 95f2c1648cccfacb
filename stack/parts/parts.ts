import type { ServiceName } from '../../services/contracts/env/variables.ts';
import { nodesOf } from '../settings/ports.ts';
import { backendParts } from './backend.ts';
import { caddyParts } from './caddy.ts';
import { dgraphParts } from './dgraph.ts';
import { busPersistence, busRooms, busVariables, natsParts } from './nats.ts';
import type { Part } from './part.ts';
import { runtimeParts } from './runtime.ts';
import { serviceParts } from './service.ts';
import { addressAmongParts, portNamed, type Setup } from './setup.ts';

/** All parts of an installation, in the order in which they are shown. */
export function partsOf(setup: Setup): readonly Part[] {
  const kinds = [backendParts, remoteMcpParts, runtimeParts, frontendParts, natsParts, dgraphParts, caddyParts];
  return kinds.flatMap((parts) => parts(setup));
}

function remoteMcpParts(setup: Setup): readonly Part[] {
  const { definition, addresses, secrets } = setup;
  return serviceParts(setup, {
    service: 'remote-mcp',
    // Agents are admitted last: an agent that waits for the address must not see an unfinished platform.
    after: [...nodesOf('runtime', definition), ...nodesOf('frontend', definition)],
    rooms: ['platform', ...busRooms(definition)],
    variables: (give) => ({
      ...busVariables(setup, give),
      ...busPersistence(definition),
      SYSTEM_KEY_FILE: give(secrets.remoteMcpKey),
      PRIVATE_BACKEND_URL: `http://${addressAmongParts(portNamed('backend', setup), setup)}`,
      PUBLIC_BACKEND_URL: addresses.public.backend,
      PUBLIC_MCP_URL: addresses.public.mcp,
    }),
  });
}

function frontendParts(setup: Setup): readonly Part[] {
  const { backend, mcp } = setup.addresses.public;
  return serviceParts(setup, {
    service: 'frontend',
    after: nodesOf('backend', setup.definition),
    rooms: ['platform'],
    variables: () => ({ PUBLIC_BACKEND_URL: backend, PUBLIC_MCP_URL: mcp }),
  });
}

/** The same parts, each after its dependencies. */
export function inStartOrder(parts: readonly Part[]): readonly Part[] {
  const ordered = new Set<Part>();
  const add = (part: Part) => {
    for (const other of parts) if (part.after.includes(other.name)) add(other);
    ordered.add(part);
  };
  for (const part of parts) add(part);
  return [...ordered];
}

/** The first process of each service. */
export function servicesOf(parts: readonly Part[]): readonly { readonly service: ServiceName; readonly part: Part }[] {
  const services = new Map<ServiceName, Part>();
  for (const part of parts) {
    if (part.program.kind === 'service' && !services.has(part.program.service)) {
      services.set(part.program.service, part);
    }
  }
  return [...services].map(([service, part]) => ({ service, part }));
}

/** The first process of a service. */
export function firstOf(service: ServiceName, parts: readonly Part[]): Part {
  const found = parts.find((part) => part.service === service);
  if (found === undefined) throw new Error(`the plan has no ${service}`);
  return found;
}
