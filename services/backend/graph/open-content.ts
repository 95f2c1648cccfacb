import type { GraphContent } from './content.ts';
import type { ClusterOptions } from './dgraph/cluster.ts';
import { openSqliteContent, type SqliteContentOptions } from './sqlite/content.ts';

export { copyGraph } from './sqlite/content.ts';

export type GraphContentOptions =
  | ({ readonly engine: 'sqlite' } & SqliteContentOptions)
  | ({ readonly engine: 'dgraph' } & ClusterOptions);

export async function openGraphContent(options: GraphContentOptions): Promise<GraphContent> {
  if (options.engine === 'sqlite') return openSqliteContent(options);
  const { openDgraphContent } = await import('./dgraph/content.ts');
  return openDgraphContent(options);
}
