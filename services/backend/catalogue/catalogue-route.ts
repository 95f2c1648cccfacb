import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { catalogueMaxBytes, cataloguePath } from '../../contracts/catalogue.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId } from '../../contracts/ids.ts';
import type { Graph, Node, WithGraph } from '../graph/graph.ts';
import { requireRemoteMcp } from '../keys/require-remote-mcp.ts';
import { noSuchWorkspace } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { type CatalogueReader, type CatalogueSource, readCatalogue, tagOf } from './read-catalogue.ts';

type CatalogueNeeds = WithGraph & WithSecrets;

/**
 * `GET /internal/catalogue/<workspace>` for remote-mcp: streams the catalogue as lines of JSON (contracts/catalogue). A
 * request with the current tag costs one look-up. With `?snapshot` one transaction reads all of it before the first
 * line is sent.
 */
export function addCatalogue(app: FastifyInstance, backend: CatalogueNeeds): void {
  type Pull = { Params: { workspace: string }; Querystring: { snapshot?: unknown; rules?: unknown } };
  app.get<Pull>(`${cataloguePath}/:workspace`, async (request, reply) => {
    await requireRemoteMcp(backend, request);
    const workspace = await getWorkspace(backend.graph, request.params.workspace);
    reply.header('cache-control', 'private, no-cache');
    if (names(request.headers['if-none-match'], tagOf(workspace))) {
      return reply.code(304).header('etag', tagOf(workspace)).send();
    }
    const isSnapshot = request.query.snapshot !== undefined;
    const reader = { appliesRules: request.query.rules !== undefined };
    const { tag, lines } = isSnapshot
      ? await snapshotOf(backend.graph, workspace.id, { ...reader, sizeMaxBytes: catalogueMaxBytes })
      : { tag: tagOf(workspace), lines: linesOf(backend.graph, workspace, reader) };
    return reply
      .header('etag', tag)
      .type('application/x-ndjson')
      .send(Readable.from(lines, { highWaterMark: 1 }));
  });
}

/** Holds the complete catalogue in memory until the last line is sent. Throws `too_large`. */
export function snapshotOf(
  graph: Graph,
  id: string,
  { sizeMaxBytes, ...reader }: CatalogueReader & { readonly sizeMaxBytes: number },
): Promise<{ tag: string; lines: readonly string[] }> {
  return graph.write(async (transaction) => {
    const workspace = await getWorkspace(transaction, id);
    const lines: string[] = [];
    let sizeBytes = 0;
    for await (const line of linesOf(transaction, workspace, reader)) {
      sizeBytes += Buffer.byteLength(line);
      if (sizeBytes > sizeMaxBytes) {
        throw new SvcError('too_large', `The catalogue of "${workspace.name}" has more than ${sizeMaxBytes} bytes.`);
      }
      lines.push(line);
    }
    return { tag: tagOf(workspace), lines };
  });
}

async function* linesOf(
  graph: CatalogueSource,
  workspace: Node<'workspace'>,
  reader: CatalogueReader,
): AsyncGenerator<string, void, undefined> {
  for await (const slice of readCatalogue(graph, workspace, reader)) {
    yield `${slice.map((entry) => JSON.stringify(entry)).join('\n')}\n`;
  }
}

async function getWorkspace(graph: Pick<Graph, 'find'>, text: string): Promise<Node<'workspace'>> {
  const id = findId('workspace', text);
  const workspace = id === null ? null : await graph.find('workspace', id, null);
  if (workspace === null) throw noSuchWorkspace(text.slice(0, 80));
  return workspace;
}

/** RFC 9110 §13.1.2: a list of tags, compared weakly, or `*`. */
function names(ifNoneMatch: string | undefined, tag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
