import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseDigest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import { errorToHttp } from '../../kit/http/error-to-http.ts';
import type { Node } from '../graph/graph.ts';
import type { Blobs } from './blobs.ts';
import { readRange } from './http-range.ts';

/** Answers with a file, or the range of it that is asked for. Whatever it holds, no browser runs it: it is a download and nothing else. */
export async function sendFile(
  blobs: Blobs,
  { path, digest, sizeBytes }: Node<'file'>,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { range: asked, 'if-range': ifRange } = request.headers;
  const tag = `"${digest}"`;
  // RFC 9110 §13.1.5: whoever has a part of something else gets all of this.
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
    const refusal = new SvcError('invalid_input', `The file has ${sizeBytes} bytes, and none of those asked for.`);
    reply.code(416).header('content-range', `bytes */${sizeBytes}`).removeHeader('content-disposition');
    return reply.type('application/json').send(errorToHttp(refusal).body);
  }
  const { start, end } = range === 'whole' ? { start: 0, end: sizeBytes } : range;
  if (range !== 'whole') reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${sizeBytes}`);
  return reply.header('content-length', end - start).send(await blobs.read(parseDigest(digest), { start, end }));
}

/** RFC 6266: its name in letters that all know, and as it is. */
function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const plain = name.replace(/[^A-Za-z0-9._-]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** By the end of its name, and only of what does nothing where it is opened. */
export function mediaTypeOf(path: string): string {
  return types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
}

const text = 'text/plain; charset=utf-8';
const types: Readonly<Record<string, string>> = {
  ...{ md: 'text/markdown; charset=utf-8', txt: text, csv: 'text/csv; charset=utf-8', json: 'application/json' },
  ...{ yaml: text, yml: text, toml: text, py: text, js: text, ts: text, sh: text, sql: text },
  ...{ pdf: 'application/pdf', png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif' },
};
