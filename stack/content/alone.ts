/** Nodes of a platform's bus and graph that run without its other parts, so that data can be carried. */
export interface Alone {
  /** Where the nodes of NATS are reached from this machine; none where none run. */
  readonly bus: readonly string[];
  /** Where data nodes of Dgraph are, asked over HTTP and over gRPC; null where none run. */
  readonly graph: GraphAlone | null;
  /** Ends them and leaves nothing of them but what they keep. */
  stop(): Promise<void>;
}

export interface GraphAlone {
  readonly urls: readonly string[];
  readonly servers: readonly string[];
}
