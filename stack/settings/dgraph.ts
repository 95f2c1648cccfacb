import { isVersion } from '../machine/check-program.ts';

/** Older coordination nodes let every client administer them. */
export const oldestDgraph = '25.4';
/** The first version that can refuse requests without credentials. Older versions do not start with that setting. */
const refusesAnonymous = '25.5';

/** The version that a program built from source prints; its age is unknown. */
export const builtFromSource = 'dev';

export function isNewDgraph(version: string | null): boolean {
  return version === builtFromSource || isVersion(version, oldestDgraph);
}

/** The rest of `--security`, besides the token, that a program of this version supports. */
export function postureAt(version: string | null): string {
  return isVersion(version, refusesAnonymous) ? ' anonymous=none' : '';
}

/** The default ports of its nodes. Dgraph moves all ports of a node by one offset. */
export const usualDgraphPorts = {
  zero: { grpc: 5080, http: 6080 },
  alpha: { internal: 7080, http: 8080, grpc: 9080 },
} as const;

/** Claimed ports by name. */
type Claimed = Readonly<Record<string, number>>;

export type ZeroPorts = Readonly<Record<'grpc' | 'http' | 'offset', number>>;
export type AlphaPorts = Readonly<Record<'internal' | 'http' | 'grpc' | 'offset', number>>;

/** The ports of the platform's own coordination node, which move with the claimed one. */
export function zeroPorts(ports: Claimed, node = 'dgraph-zero'): ZeroPorts {
  const { grpc, http } = usualDgraphPorts.zero;
  const offset = (ports[node] ?? grpc) - grpc;
  return { grpc: grpc + offset, http: http + offset, offset };
}

/** The ports of the platform's own data node. */
export function alphaPorts(ports: Claimed, node = 'dgraph-alpha'): AlphaPorts {
  const { internal, http, grpc } = usualDgraphPorts.alpha;
  const offset = (ports[node] ?? http) - http;
  return { internal: internal + offset, http: http + offset, grpc: grpc + offset, offset };
}

/** Twice the memory of an idle data node besides its cache. */
const besideCacheMb = 256;

/** Above this, a data node collects garbage sooner; it takes more when it must. */
export function alphaMemoryMb(cacheMb: number): number {
  return cacheMb + besideCacheMb;
}
