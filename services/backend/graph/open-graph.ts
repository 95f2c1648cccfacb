import { isAbsolute } from 'node:path';
import { SvcError } from '../../contracts/errors.ts';
import type { Graph } from './graph.ts';
import { openSqliteGraph } from './sqlite/sqlite-graph.ts';

export interface OpenGraphOptions {
  /** `PRIVATE_GRAPHDB_URL`. */
  readonly url: string;
}

const filePrefix = 'file:';

/** The only place that chooses an engine. */
export async function openGraph({ url }: OpenGraphOptions): Promise<Graph> {
  if (!url.startsWith(filePrefix)) {
    throw new SvcError(
      'unsupported',
      `"${url}" is the address of a Dgraph cluster, which comes with the distributed topology.`,
      {
        hint: 'Set PRIVATE_GRAPHDB_URL=file:/path/to/graph.sqlite for the SQLite engine.',
      },
    );
  }
  const file = decoded(url.slice(filePrefix.length).replace(/^\/\/(?=\/)/, ''));
  if (file === null || !isAbsolute(file)) {
    throw new SvcError('invalid_input', `"${url}" names no file: it must be file: and an absolute path.`);
  }
  return openSqliteGraph({ file });
}

/** A file URL writes a space as %20. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
