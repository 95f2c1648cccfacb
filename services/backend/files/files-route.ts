import type { FastifyInstance, FastifyRequest } from 'fastify';
import { internalFilesPath } from '../../contracts/catalogue.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId } from '../../contracts/ids.ts';
import { Budget } from '../../kit/budget.ts';
import type { ChangeNeeds } from '../activity/change.ts';
import type { WithConfig, WithLog } from '../bus/with-bus.ts';
import { getNode } from '../graph/get-node.ts';
import { requireOrigin } from '../http/cross-origin.ts';
import { requireRemoteMcp } from '../keys/require-remote-mcp.ts';
import { getAccess } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { ownerOf } from '../tokens/owner-of.ts';
import type { WithBlobs } from './blobs.ts';
import { noSuchFile, upload } from './change-files.ts';
import { sendFile } from './send-file.ts';
import { filesPath, readTicket, type Ticket } from './tickets.ts';

interface Signed {
  Params: { digest: string };
  Querystring: { ticket?: string | string[] };
}

interface Internal {
  Params: { workspace: string; file: string };
}

type FilesNeeds = ChangeNeeds & WithBlobs & WithSecrets & WithConfig & WithLog;

/** Each holds a connection and a part of the disk for up to 30 s. `svc apply` sends eight at once. */
const uploadLimits = { total: 256, shares: { user: 32 } };

/**
 * `PUT` and `GET /files/<digest>?ticket=…` for people, with addresses from `signUrl`; `GET
 * /internal/files/<workspace>/<file>` for remote-mcp. Files are streamed, never held in memory as a whole.
 */
export function addFiles(app: FastifyInstance, backend: FilesNeeds, origins: readonly string[]): void {
  const uploads = new Budget({ what: 'uploads', hint: 'Wait for the end of earlier uploads.', ...uploadLimits });
  app.register(async (files) => {
    files.removeAllContentTypeParsers();
    files.addContentTypeParser('*', (_request, body, done) => done(null, body));

    files.put<Signed>(`${filesPath}/:digest`, async (request, reply) => {
      requireOrigin(request, origins);
      const ticket = ticketOf(backend, request, 'upload');
      checkLength(request, ticket);
      // Does not wait for the rest of a refused body.
      reply.header('connection', 'close');
      const place = uploads.hold(ownerOf(ticket.principal), 1);
      try {
        const { path, digest, sizeBytes } = await upload(backend, ticket, bytesOf(request));
        return reply.header('cache-control', 'no-store').send({ path, digest, sizeBytes });
      } finally {
        place.release();
      }
    });
  });

  app.get<Signed>(`${filesPath}/:digest`, { exposeHeadRoute: false }, async (request, reply) => {
    const { principal, workspace, skill, path, digest } = ticketOf(backend, request, 'download');
    await getAccess(backend.graph, { principal, workspace, right: 'read' });
    const owner = await getNode(backend.graph, 'skill', skill, workspace);
    const file = await backend.graph.findBy('file', { skill, path }, workspace);
    if (file?.digest !== digest) throw noSuchFile(owner, path);
    return await sendFile(backend.blobs, file, { request, reply });
  });

  app.get<Internal>(`${internalFilesPath}/:workspace/:file`, { exposeHeadRoute: false }, async (request, reply) => {
    await requireRemoteMcp(backend, request);
    const [workspace, id] = [findId('workspace', request.params.workspace), findId('file', request.params.file)];
    const file = workspace === null || id === null ? null : await backend.graph.find('file', id, workspace);
    if (file === null) throw new SvcError('not_found', 'This workspace has no such file.');
    return await sendFile(backend.blobs, file, { request, reply });
  });
}

function ticketOf(backend: FilesNeeds, request: FastifyRequest<Signed>, does: Ticket['does']): Ticket {
  const { ticket } = request.query;
  const read = readTicket(backend, typeof ticket === 'string' ? ticket : '', does);
  if (read.digest === request.params.digest) return read;
  throw new SvcError('forbidden', 'The address of the file is refused: its two parts do not belong together.');
}

/** Checked before a byte is read, when the client announces a length. */
function checkLength({ headers }: FastifyRequest, { sizeBytes }: Ticket): void {
  const length = headers['content-length'];
  if (length === undefined || Number(length) === sizeBytes) return;
  const code = Number(length) > sizeBytes ? 'too_large' : 'invalid_input';
  throw new SvcError(code, `The request holds ${length} bytes: ${sizeBytes} were announced.`);
}

/** The body. Its connection stays open for the answer when the body is not read to its end. */
function bytesOf(request: FastifyRequest): AsyncIterable<Uint8Array> {
  return request.raw.iterator({ destroyOnReturn: false });
}
