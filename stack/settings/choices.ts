/** The four services that listen on a port, under the names of `services[].name`. */
export const listeners = ['backend', 'remote-mcp', 'runtime', 'frontend'] as const;
export type ListenerName = (typeof listeners)[number];

export const topologies = ['embedded', 'distributed'] as const;
export type Topology = (typeof topologies)[number];
export const graphs = ['sqlite', 'dgraph'] as const;
export type Graph = (typeof graphs)[number];
export const engines = ['process', 'docker'] as const;
export type Engine = (typeof engines)[number];
