import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { cataloguePath } from '../../contracts/catalogue.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId } from '../../contracts/ids.ts';
import { parseKey } from '../../contracts/keys.ts';
import type { Backend } from '../context.ts';
import type { Graph, Node } from '../graph/graph.ts';
import { noSuchWorkspace } from '../members/access.ts';
import { findSystemKey } from '../runtimes/system-keys.ts';
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

/** A catalogue is for remote-mcp alone: it holds what a whole workspace can do, whatever a key may. */
async function requireRemoteMcp(backend: Context, request: FastifyRequest): Promise<void> {
  const [, text] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const parsed = parseKey(text ?? '');
  if (!parsed.ok || parsed.kind !== 'system') {
    throw new SvcError(
      'unauthenticated',
      'A catalogue is given to a system key only: send it as Authorization: Bearer.',
    );
  }
  const systemKey = await findSystemKey(backend, parsed.key);
  if (systemKey === null) throw new SvcError('unauthenticated', 'This system key is not known to the platform.');
  if (systemKey.component !== 'remote-mcp') {
    throw new SvcError('forbidden', `This system key is for ${systemKey.component}, not for remote-mcp.`);
  }
}

/** RFC 9110 §13.1.2: a list of tags, compared weakly, or `*`. */
function names(ifNoneMatch: string | undefined, tag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
