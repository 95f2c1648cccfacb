import type { GraphContent } from './content.ts';
import { clusterOptions, type OpenGraphOptions } from './open-graph.ts';
import { openSqliteContent, type SqliteContentOptions } from './sqlite/content.ts';

export { copyGraph } from './sqlite/content.ts';

/** A graph in Dgraph: the address of a data node, and the credentials of the platform's user. */
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

/** Whether the graph has no data of a platform. */
export async function isEmptyDgraph(address: DgraphAddress): Promise<boolean> {
  const { isEmptyCluster } = await import('./dgraph/emptying.ts');
  return isEmptyCluster(clusterOptions(address));
}

/** Removes all data of a platform, and nothing else. Idempotent: an interrupted call is repeated. */
export async function emptyDgraph(address: DgraphAddress): Promise<void> {
  const { emptyCluster } = await import('./dgraph/emptying.ts');
  await emptyCluster(clusterOptions(address));
}
