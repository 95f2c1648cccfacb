import type { GraphContent } from './content.ts';
import { clusterOptions, type OpenGraphOptions } from './open-graph.ts';
import { openSqliteContent, type SqliteContentOptions } from './sqlite/content.ts';

export { copyGraph } from './sqlite/content.ts';

/** A graph in Dgraph: the address of a data node, and who comes to it. */
export type DgraphAddress = OpenGraphOptions;

export type GraphContentOptions =
  | ({ readonly engine: 'sqlite' } & SqliteContentOptions)
  /** `readOnly` as for SQLite. */
  | ({ readonly engine: 'dgraph'; readonly readOnly: boolean } & DgraphAddress);

export async function openGraphContent(options: GraphContentOptions): Promise<GraphContent> {
  if (options.engine === 'sqlite') return openSqliteContent(options);
  const { openDgraphContent } = await import('./dgraph/content.ts');
  return openDgraphContent({ ...clusterOptions(options), readOnly: options.readOnly });
}

/** Whether nothing of a platform is there. */
export async function isEmptyDgraph(address: DgraphAddress): Promise<boolean> {
  const { isEmptyCluster } = await import('./dgraph/emptying.ts');
  return isEmptyCluster(clusterOptions(address));
}

/** Takes away all that a platform has put there, and nothing else. Begun again where it did not come to its end. */
export async function emptyDgraph(address: DgraphAddress): Promise<void> {
  const { emptyCluster } = await import('./dgraph/emptying.ts');
  await emptyCluster(clusterOptions(address));
}
