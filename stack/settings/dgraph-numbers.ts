/** Those of its nodes where nothing moves them. Dgraph moves all ports of a node by one number. */
export const usualDgraphPorts = {
  zero: { grpc: 5080, http: 6080 },
  alpha: { internal: 7080, http: 8080, grpc: 9080 },
} as const;

/** Claimed ports by name. */
type Claimed = Readonly<Record<string, number>>;

export type ZeroPorts = Readonly<Record<'grpc' | 'http' | 'offset', number>>;
export type AlphaPorts = Readonly<Record<'internal' | 'http' | 'grpc' | 'offset', number>>;

/** The ports of a coordination node of our own, which move with the one that was claimed. */
export function zeroPorts(ports: Claimed, node = 'dgraph-zero'): ZeroPorts {
  const { grpc, http } = usualDgraphPorts.zero;
  const offset = (ports[node] ?? grpc) - grpc;
  return { grpc: grpc + offset, http: http + offset, offset };
}

/** The ports of a data node of our own. */
export function alphaPorts(ports: Claimed, node = 'dgraph-alpha'): AlphaPorts {
  const { internal, http, grpc } = usualDgraphPorts.alpha;
  const offset = (ports[node] ?? http) - http;
  return { internal: internal + offset, http: http + offset, grpc: grpc + offset, offset };
}

/** What an idle data node takes beside its cache, twice over. */
const besideCacheMb = 256;

/** From there on a data node collects its garbage sooner, and takes more where it must. */
export function alphaMemoryMb(cacheMb: number): number {
  return cacheMb + besideCacheMb;
}
