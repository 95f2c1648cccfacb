import { frontend } from './frontend.ts';
import { busPersistence, busRooms, busVariables } from './nats.ts';
import { replicaNames, replicaWishes } from './port-wish.ts';
import { runtime } from './runtime.ts';
import { serviceParts, serviceWish } from './service.ts';
import { addressAmongParts, type PartKind } from './setup.ts';

export const remoteMcp: PartKind = {
  nodes: ({ replicas }) => replicaNames('remote-mcp', replicas['remote-mcp']),
  wishes: (definition) => [serviceWish('remote-mcp', definition), ...replicaWishes('remote-mcp', definition)],
  parts: (setup) => {
    const { definition, addresses, secrets } = setup;
    return serviceParts(setup, {
      service: 'remote-mcp',
      wishes: remoteMcp.wishes(definition),
      // Agents are admitted last: an agent that waits for the address must not see an unfinished platform.
      after: [runtime, frontend].flatMap(({ nodes }) => nodes(definition)),
      rooms: ['platform', ...busRooms(definition)],
      variables: (give) => ({
        ...busVariables(setup, give),
        ...busPersistence(definition),
        SYSTEM_KEY_FILE: give(secrets.remoteMcpKey),
        PRIVATE_BACKEND_URL: `http://${addressAmongParts(serviceWish('backend', definition), setup)}`,
        PUBLIC_BACKEND_URL: addresses.public.backend,
        PUBLIC_MCP_URL: addresses.public.mcp,
      }),
    });
  },
};
