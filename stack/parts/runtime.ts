import { nodesOf } from '../settings/ports.ts';
import { busRooms, busVariables } from './nats.ts';
import type { Part, PartData } from './part.ts';
import { serviceParts } from './service.ts';
import { given, type Setup } from './setup.ts';

export function runtimeParts(setup: Setup): readonly Part[] {
  const { definition, secrets, site } = setup;
  const { allowedPaths } = definition.runtime;
  return serviceParts(setup, {
    service: 'runtime',
    after: nodesOf('backend', definition),
    rooms: ['platform', ...busRooms(definition)],
    variables: (give, part) => ({
      ...busVariables(setup, give),
      SYSTEM_KEY_FILE: give(secrets.runtimeKey),
      SVC_WORKING_DIR: site.dataPathOf(dataOf(part)),
      ...sandbox(setup),
      // At a private site only the allowed folders are mounted.
      ...(site.isPrivate ? {} : given('SVC_ALLOWED_PATHS', allowedPaths.join(':'))),
    }),
    keeps: dataOf,
    sees: allowedPaths,
    // There are many MCP servers, started from files that they unpack.
    limits: { processesMax: 1024, temporary: { sizeMb: 256, isExecutable: true } },
  });
}

/** The homes of MCP servers. */
function dataOf(part: string): PartData {
  return { folder: part, volume: part };
}

/** Hides the platform's own files, wherever they are inside an MCP server's folders. */
function sandbox({ installation, definition, site }: Setup): Record<string, string> {
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
