import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Definition, Graph } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';

/** Where a graph of our own keeps its data, and whether there is any. */
export interface Kept {
  readonly place: string;
  readonly isThere: boolean;
}

/**
 * Told where svc.yaml names a graph that was never used here, and another one was: what people put into that one is not lost, and not to be
 * seen either.
 */
export function leftGraph(
  { engine, graph }: Pick<Definition, 'engine' | 'graph'>,
  kept: Readonly<Record<Graph, Kept>>,
): readonly string[] {
  const other = graph === 'sqlite' ? 'dgraph' : 'sqlite';
  if (kept[graph].isThere || !kept[other].isThere) return [];
  const along = engine === 'process' ? `, and svc move --graph ${graph} then brings it along` : '';
  return [
    `graph: ${graph} begins empty. What is there already stays in ${kept[other].place}: graph: ${other} in svc.yaml goes back to it${along}.`,
  ];
}

/** In data/, for processes. */
export function keptInFiles({ dataDir }: Installation): Readonly<Record<Graph, Kept>> {
  const kept = (name: string) => ({ place: `data/${name}`, isThere: existsSync(join(dataDir, name)) });
  return { sqlite: kept('graph.sqlite'), dgraph: kept('dgraph') };
}
