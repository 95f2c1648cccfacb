import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseDigest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import { errorToHttp } from '../../kit/http/error-to-http.ts';
import type { Node } from '../graph/graph.ts';
import type { Blobs } from './blobs.ts';
import { readRange } from './http-range.ts';

/** Answers with a file, or the requested range of it. Browsers never run its content: it is always a download. */
export async function sendFile(
  blobs: Blobs,
  { path, digest, sizeBytes }: Node<'file'>,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { range: asked, 'if-range': ifRange } = request.headers;
  const tag = `"${digest}"`;
  // RFC 9110 §13.1.5: a client with a part of another version gets the whole file.
  const range = readRange(ifRange === undefined || ifRange === tag ? asked : undefined, sizeBytes);
  reply
    .header('etag', tag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-store')
    .header('content-disposition', attachment(path))
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('x-content-type-options', 'nosniff')
    .type(mediaTypeOf(path));
  if (range === 'none') {
    const refusal = new SvcError('invalid_input', `The file has ${sizeBytes} bytes, and none of the requested ones.`);
    reply.code(416).header('content-range', `bytes */${sizeBytes}`).removeHeader('content-disposition');
    return reply.type('application/json').send(errorToHttp(refusal).body);
  }
  const { start, end } = range === 'whole' ? { start: 0, end: sizeBytes } : range;
  if (range !== 'whole') reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${sizeBytes}`);
  return reply.header('content-length', end - start).send(await blobs.read(parseDigest(digest), { start, end }));
}

/** RFC 6266: the name in ASCII, and in full. */
function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const plain = name.replace(/[^A-Za-z0-9._-]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** Decided by the file's extension, and limited to types that no program runs. */
export function mediaTypeOf(path: string): string {
  return types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
}

const text = 'text/plain; charset=utf-8';
const types: Readonly<Record<string, string>> = {
  ...{ md: 'text/markdown; charset=utf-8', txt: text, csv: 'text/csv; charset=utf-8', json: 'application/json' },
  ...{ yaml: text, yml: text, toml: text, py: text, js: text, ts: text, sh: text, sql: text },
  ...{ pdf: 'application/pdf', png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif' },
};
