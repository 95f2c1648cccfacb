import type { ListenerName } from './choices.ts';

/** By name: of the four services, and with separate processes those of the bus, of Dgraph and of every replica. */
export type Ports = Readonly<Record<ListenerName, number>> & { readonly [name: string]: number };

/** The ports of part 8 of the specification. */
export const usualPorts: Ports = { backend: 3000, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 };
/** Only programs of this machine reach a port that listens here. */
export const loopback = '127.0.0.1';
