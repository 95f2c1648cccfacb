/** The four services that listen on a port, under the names of `services[].name`. */
export const listeners = ['backend', 'remote-mcp', 'runtime', 'frontend'] as const;
export type ListenerName = (typeof listeners)[number];

export const topologies = ['embedded', 'distributed'] as const;
export type Topology = (typeof topologies)[number];
export const graphs = ['sqlite', 'dgraph'] as const;
export type Graph = (typeof graphs)[number];
export const engines = ['process', 'docker'] as const;
export type Engine = (typeof engines)[number];

/** The properties of an engine that other settings and messages depend on. */
export interface EngineTraits {
  /** Each part is separate, so it needs topology: distributed. */
  readonly needsDistributed: boolean;
  /** Parts run on this machine: they use its programs, folders and networks. */
  readonly usesThisMachine: boolean;
  /** Where its parts run, in words that follow the topology and the graph. */
  readonly place: string;
}

export const engineTraits: Readonly<Record<Engine, EngineTraits>> = {
  process: { needsDistributed: false, usesThisMachine: true, place: '' },
  docker: { needsDistributed: true, usesThisMachine: false, place: ' in containers' },
};
