import type { Side } from '../replace/side.ts';

export const embedded: Side = { topology: 'embedded', graph: 'sqlite', engine: 'process' };
export const distributed: Side = { topology: 'distributed', graph: 'sqlite', engine: 'process' };
export const onDgraph: Side = { ...distributed, graph: 'dgraph' };
export const inContainers: Side = { ...distributed, engine: 'docker' };
