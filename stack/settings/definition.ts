import type { ValueOf } from './setting.ts';
import type { settings } from './settings.ts';

/** The checked content of svc.yaml: every choice of an installation, and no secret. */
export type Definition = ValueOf<typeof settings>;

/** Whether `svc up` starts the bus as a process: neither inside the single process, nor external. */
export function hasOwnBus({ topology, bus }: Definition): boolean {
  return topology === 'distributed' && bus.servers === 'auto';
}

/** Whether the bus is external: it keeps its own records. */
export function hasOtherBus({ topology, bus }: Definition): boolean {
  return topology === 'distributed' && bus.servers !== 'auto';
}

/** Whether `svc up` starts Dgraph: neither a file, nor external. */
export function hasOwnGraph({ graph, graphdb }: Pick<Definition, 'graph' | 'graphdb'>): boolean {
  return graph === 'dgraph' && graphdb.url === 'auto';
}

/** Services whose processes can share one address. A runtime is reached over the bus, and its web service directly. */
const shareable = ['remote-mcp', 'backend'] as const;
export type SharedService = (typeof shareable)[number];

export function hasOneHost({ topology, public: { host } }: Definition): boolean {
  return topology === 'distributed' && host !== undefined;
}

export function sharedServices({ topology, replicas }: Definition): readonly SharedService[] {
  return topology === 'embedded' ? [] : shareable.filter((service) => replicas[service] > 1);
}

export function hasFront(definition: Definition): boolean {
  return hasOneHost(definition) || sharedServices(definition).length > 0;
}

/** The address that services listen on: `bind`, unless only the proxy is reachable. */
export function serviceBind(definition: Definition): string {
  return hasOneHost(definition) ? '127.0.0.1' : definition.bind;
}
