import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Definition } from '../definition/definition.ts';
import type { Installation } from '../installation.ts';

/** Where each graph of our own keeps its data, in data/. */
const dataOf: Readonly<Record<Definition['graph'], string>> = { sqlite: 'graph.sqlite', dgraph: 'dgraph' };

/**
 * Told where svc.yaml names a graph that was never used here, and another one was: what people put into that one is not lost, and not to be
 * seen either.
 */
export function leftGraph({ dataDir }: Installation, { graph }: Definition): readonly string[] {
  const other = graph === 'sqlite' ? 'dgraph' : 'sqlite';
  const has = (one: Definition['graph']) => existsSync(join(dataDir, dataOf[one]));
  if (has(graph) || !has(other)) return [];
  return [
    `graph: ${graph} begins empty. What is there already stays in data/${dataOf[other]}: graph: ${other} in svc.yaml goes back to it, and svc move --graph ${graph} then brings it along.`,
  ];
}
