import type { ListenerName } from './choices.ts';

/** By name: of the four services, and with processes of their own those of the bus, of Dgraph and of every further one. */
export type Ports = Readonly<Record<ListenerName, number>> & { readonly [name: string]: number };

/** The ports of part 8 of the specification. */
export const usualPorts: Ports = { backend: 3000, 'remote-mcp': 3001, runtime: 3003, frontend: 8888 };
/** Only programs of this machine reach a port that listens there. */
export const loopback = '127.0.0.1';
