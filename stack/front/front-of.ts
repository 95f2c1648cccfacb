import type { Definition } from '../settings/definition.ts';

/** Services of which several share one address. Each runtime is reached over the bus, and its web service by itself. */
const shareable = ['remote-mcp', 'backend'] as const;
export type SharedService = (typeof shareable)[number];

/** Whether everything is under one host name. */
export function hasOneHost({ topology, public: { host } }: Definition): boolean {
  return topology === 'distributed' && host !== undefined;
}

/** The services that have several processes behind the address of one. */
export function sharedServices({ topology, replicas }: Definition): readonly SharedService[] {
  return topology === 'embedded' ? [] : shareable.filter((service) => replicas[service] > 1);
}

export function hasFront(definition: Definition): boolean {
  return hasOneHost(definition) || sharedServices(definition).length > 0;
}
