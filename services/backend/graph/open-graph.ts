import { isAbsolute } from 'node:path';
import { SvcError } from '../../contracts/errors.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { ClusterOptions } from './dgraph/cluster.ts';
import type { Graph } from './graph.ts';
import { openSqliteGraph } from './sqlite/sqlite-graph.ts';

export interface OpenGraphOptions {
  /** `PRIVATE_GRAPHDB_URL`: `file:` and a path, or the HTTP address of a data node of Dgraph. */
  readonly url: string;
  /** The gRPC addresses of the data nodes. Default: the host of `url`, at its port + 1000, as in Dgraph's own defaults. */
  readonly servers?: readonly string[] | undefined;
  readonly caPath?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: Secret | undefined;
  readonly token?: Secret | undefined;
  /** A namespace of the Dgraph cluster, which is a separate graph. Default: 0. */
  readonly namespace?: number | undefined;
}

const filePrefix = 'file:';
/** Distance from the HTTP port of a data node to its gRPC port. */
const grpcAbove = 1000;

/** The only place that chooses an engine. */
export async function openGraph(options: OpenGraphOptions): Promise<Graph> {
  const { url } = options;
  if (url.startsWith(filePrefix)) return openSqliteGraph({ file: fileOf(url) });
  // An installation with SQLite does not need the memory of Dgraph's client.
  const { openDgraphGraph } = await import('./dgraph/dgraph-graph.ts');
  return openDgraphGraph(clusterOptions(options));
}

/** The address as options of Dgraph's client. */
export function clusterOptions(options: OpenGraphOptions): ClusterOptions {
  const { url, servers = [grpcAddress(url)], caPath, user, password, token, namespace } = options;
  const login = user === undefined || password === undefined ? undefined : { user, password };
  const tls = caPath !== undefined || url.startsWith('https:') ? { caPath } : null;
  return { servers, tls, login, token, namespace };
}

function fileOf(url: string): string {
  const file = decoded(url.slice(filePrefix.length).replace(/^\/\/(?=\/)/, ''));
  if (file !== null && isAbsolute(file)) return file;
  throw new SvcError('invalid_input', `"${url}" names no file: it must be file: and an absolute path.`);
}

function grpcAddress(url: string): string {
  const address = URL.parse(/^https?:\/\//.test(url) ? url : `http://${url}`);
  const port = Number(address?.port || (address?.protocol === 'https:' ? 443 : 80)) + grpcAbove;
  if (address !== null && address.hostname !== '' && port <= 65_535) return `${address.hostname}:${port}`;
  throw new SvcError('invalid_input', `"${url}" is neither file: and an absolute path nor the address of a Dgraph.`, {
    hint: 'Set PRIVATE_GRAPHDB_URL=file:/path/to/graph.sqlite, or http://host:8080 for Dgraph.',
  });
}

/** A file URL writes a space as %20. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
