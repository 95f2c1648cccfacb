import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answerHealth } from '../kit/http/health.ts';
import type { Page, ServedFile } from './page.ts';

/** Serves the document of all places, its assets, `/health` and `/ready`. */
export function createFrontend(page: Page): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(headersOfAll)) response.setHeader(name, value);
    if (answerHealth(request, response, () => [])) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return answerText(response, 405, 'Only GET and HEAD are answered here.');
    }
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    const file = page.assets.get(path) ?? (isPlace(path) ? page.index : undefined);
    if (file === undefined) return answerText(response, 404, 'This address has no page. The page is at /.');
    response.setHeader('content-security-policy', page.contentSecurityPolicy);
    sendFile(request, response, file);
  };
}

const headersOfAll = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;

const yearSeconds = 365 * 24 * 60 * 60;

/**
 * A path of the application. No place has a dot in its path, so a missing file is never answered with the document, and
 * a browser never runs HTML as a script of an older version.
 */
function isPlace(path: string): boolean {
  return /^\/$|^(\/[A-Za-z0-9_-]+)+\/?$/.test(path) && !path.startsWith('/assets');
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: ServedFile): void {
  const { encoding, body } = chooseBody(request, file);
  const entityTag = encoding === null ? file.entityTag : file.entityTag.replace(/"$/, `-${encoding}"`);
  response.setHeader('etag', entityTag);
  response.setHeader('vary', 'Accept-Encoding');
  response.setHeader('cache-control', file.immutable ? `public, max-age=${yearSeconds}, immutable` : 'no-cache');
  if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(entityTag)) {
    response.writeHead(304).end();
    return;
  }
  if (encoding !== null) response.setHeader('content-encoding', encoding);
  response.writeHead(200, { 'content-type': file.type, 'content-length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** RFC 9110 §12.5.3. An encoding with weight 0 is not accepted. */
function chooseBody(request: IncomingMessage, file: ServedFile): { encoding: string | null; body: Buffer } {
  const accepted = String(request.headers['accept-encoding'] ?? '').split(/\s*,\s*/);
  const names = accepted.filter((one) => !/;\s*q=0(\.0*)?$/.test(one)).map((one) => one.split(';', 1)[0]);
  return file.encoded.find(({ encoding }) => names.includes(encoding)) ?? { encoding: null, body: file.body };
}

function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text) + 1,
    'cache-control': 'no-store',
  });
  response.end(`${text}\n`);
}
