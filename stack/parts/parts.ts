import type { ServiceName } from '../../services/contracts/env/variables.ts';
import type { Addresses } from '../settings/addresses.ts';
import type { Definition } from '../settings/definition.ts';
import { nodesOf } from '../settings/ports.ts';
import { backendParts } from './backend.ts';
import { caddyParts } from './caddy.ts';
import { dgraphParts } from './dgraph.ts';
import { busPersistence, busRooms, busVariables, natsParts } from './nats.ts';
import type { Part, PartData } from './part.ts';
import { serviceParts } from './service.ts';
import { addressAmongParts, given, portNamed, type Setup } from './setup.ts';

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
      ...given('PUBLIC_MCP_KEYS_URL', addresses.public.keys ?? ''),
      SVC_ALLOWED_ORIGINS: originsForAgents(definition, addresses).join(','),
    }),
  });
}

/** A person tries tools in the platform's own pages. */
function originsForAgents({ origins }: Definition, { public: { frontend }, local }: Addresses): readonly string[] {
  const pages = [frontend, local.frontend].map((url) => new URL(url).origin);
  return [...new Set([...origins.agents, ...pages])];
}

function runtimeParts(setup: Setup): readonly Part[] {
  const { definition, secrets, site } = setup;
  const { allowedPaths } = definition.runtime;
  return serviceParts(setup, {
    service: 'runtime',
    after: nodesOf('backend', definition),
    rooms: ['platform', ...busRooms(definition)],
    variables: (give, part) => ({
      ...busVariables(setup, give),
      SYSTEM_KEY_FILE: give(secrets.runtimeKey),
      SVC_WORKING_DIR: site.dataPathOf(homesOf(part)),
      ...sandboxVariables(setup),
      // At a private site only the allowed folders are mounted.
      ...(site.isPrivate ? {} : given('SVC_ALLOWED_PATHS', allowedPaths.join(':'))),
    }),
    keeps: homesOf,
    sees: allowedPaths,
    // There are many MCP servers, started from files that they unpack.
    limits: { processesMax: 1024, temporary: { sizeMb: 256, isExecutable: true } },
  });
}

function homesOf(part: string): PartData {
  return { folder: part, volume: part };
}

/** Hides the platform's own files, wherever they are inside an MCP server's folders. */
function sandboxVariables({ installation, definition, site }: Setup): Record<string, string> {
  const { runtime: chosen, images, limits } = definition;
  // A private site has only the runtime's key, which the runtime hides by itself.
  if (chosen.sandbox === 'none-for-everybody' || site.isPrivate) return {};
  const { secretsDir, dataDir, stateDir, logsDir, definitionFile } = installation;
  const container = {
    MCP_SERVER_DOCKER_SOCKET: chosen.dockerSocket,
    MCP_SERVER_IMAGE: images.base,
    MCP_SERVER_MEMORY_MAX_MB: String(limits.memoryMaxMb['mcp-server']),
  };
  return {
    ...(chosen.sandbox === 'container' ? container : {}),
    ...given('MCP_SERVER_MEMBER_FOLDERS', chosen.memberFolders.join(':')),
    MCP_SERVER_HIDDEN_PATHS: [secretsDir, dataDir, stateDir, logsDir, definitionFile].join(':'),
  };
}

function frontendParts(setup: Setup): readonly Part[] {
  const { backend, mcp, keys } = setup.addresses.public;
  return serviceParts(setup, {
    service: 'frontend',
    after: nodesOf('backend', setup.definition),
    rooms: ['platform'],
    variables: () => ({
      ...{ PUBLIC_BACKEND_URL: backend, PUBLIC_MCP_URL: mcp },
      ...given('PUBLIC_MCP_KEYS_URL', keys ?? ''),
    }),
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
  return parts.flatMap((part) => {
    const { name, program } = part;
    return program.kind === 'service' && program.service === name ? [{ service: name, part }] : [];
  });
}

export function firstOf(service: ServiceName, parts: readonly Part[]): Part {
  const found = parts.find((part) => part.service === service);
  if (found === undefined) throw new Error(`the plan has no ${service}`);
  return found;
}
