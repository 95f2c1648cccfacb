import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { cataloguePath } from '../../contracts/catalogue.ts';
import { findId } from '../../contracts/ids.ts';
import type { Backend } from '../context.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { noSuchWorkspace } from '../members/access.ts';
import { requireRemoteMcp } from '../runtimes/require-remote-mcp.ts';
import { readCatalogue, tagOf } from './read-catalogue.ts';

type Context = Pick<Backend, 'graph' | 'secrets'>;

/**
 * `GET /internal/catalogue/<workspace>` for remote-mcp: the catalogue as lines of JSON, streamed as fast as they are taken (contracts/catalogue).
 * Whoever has the present one says so with its tag, and costs one look-up.
 */
export function addCatalogue(app: FastifyInstance, backend: Context): void {
  app.get<{ Params: { workspace: string } }>(`${cataloguePath}/:workspace`, async (request, reply) => {
    await requireRemoteMcp(backend, request);
    const workspace = await getWorkspace(backend.graph, request.params.workspace);
    const tag = tagOf(workspace);
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    if (names(request.headers['if-none-match'], tag)) return reply.code(304).send();
    return reply
      .type('application/x-ndjson')
      .send(Readable.from(linesOf(backend.graph, workspace), { highWaterMark: 1 }));
  });
}

async function* linesOf(graph: Graph, workspace: Node<'workspace'>): AsyncGenerator<string, void, undefined> {
  for await (const slice of readCatalogue(graph, workspace)) {
    yield `${slice.map((entry) => JSON.stringify(entry)).join('\n')}\n`;
  }
}

async function getWorkspace(graph: Graph, text: string): Promise<Node<'workspace'>> {
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
