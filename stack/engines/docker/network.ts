import type Docker from 'dockerode';
import type { NetworkCreateOptions } from 'dockerode';
import { z } from 'zod';
import type { Room } from '../../parts/part.ts';
import { type Definition, hasOwnBus, hasOwnGraph } from '../../settings/definition.ts';
import { tolerate } from './daemon.ts';
import { labels, prefixOf } from './names.ts';

export function networkOf(room: Room, definition: Definition): string {
  return room === 'platform' ? prefixOf(definition) : `${prefixOf(definition)}-${room}`;
}

/** All networks of an installation, as Docker's API takes them. */
export function networkPlansOf(definition: Definition): readonly NetworkCreateOptions[] {
  // This machine has no address in them, so that no program on it reaches the nodes either.
  const closed = { Internal: true, Options: { 'com.docker.network.bridge.inhibit_ipv4': 'true' } };
  const planOf = (room: Room) => bridgeOf(networkOf(room, definition), definition);
  return [
    // Not `Internal`, because MCP servers reach the internet.
    planOf('platform'),
    ...(hasOwnBus(definition) ? [{ ...planOf('bus'), ...closed }] : []),
    ...(hasOwnGraph(definition) ? [{ ...planOf('graph'), ...closed }] : []),
  ];
}

export function bridgeOf(Name: string, { id }: Definition): NetworkCreateOptions {
  return { Name, Driver: 'bridge', CheckDuplicate: true, Labels: { [labels.installation]: id } };
}

export async function ensureNetworks(docker: Docker, plans: readonly NetworkCreateOptions[]): Promise<void> {
  // 409: it exists.
  for (const plan of plans) await docker.createNetwork(plan).catch(tolerate(409));
}

const inspected = z.object({ IPAM: z.object({ Config: z.tuple([z.object({ Subnet: z.string() })], z.unknown()) }) });

/** The addresses of a network, such as 172.18.0.0/16. */
export async function subnetOf(docker: Docker, network: string): Promise<string> {
  return inspected.parse(await docker.getNetwork(network).inspect()).IPAM.Config[0].Subnet;
}

/** Removes networks without a container, whether it runs or not. */
export async function removeFreeNetworks(docker: Docker, id: string): Promise<void> {
  const found = await docker.listNetworks({ filters: { label: [`${labels.installation}=${id}`] } });
  for (const { Id } of found) {
    const inside = await docker.listContainers({ all: true, filters: { network: [Id] } });
    if (inside.length > 0) continue;
    // 403: a container has just joined it.
    await docker.getNetwork(Id).remove().catch(tolerate(403, 404));
  }
}
