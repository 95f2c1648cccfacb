import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answerHealth } from '../kit/http/health.ts';
import type { Page, ServedFile } from './page.ts';

/** Serves the page and its assets, `/health` and `/ready`. */
export function createFrontend(page: Page): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(headersOfAll)) response.setHeader(name, value);
    if (answerHealth(request, response, () => [])) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return answerText(response, 405, 'Only GET and HEAD are answered here.');
    }
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    const file = page.files.get(path);
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

function sendFile(request: IncomingMessage, response: ServerResponse, file: ServedFile): void {
  response.setHeader('etag', file.entityTag);
  response.setHeader('cache-control', file.immutable ? `public, max-age=${yearSeconds}, immutable` : 'no-cache');
  if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(file.entityTag)) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, { 'content-type': file.type, 'content-length': file.body.length });
  response.end(request.method === 'HEAD' ? undefined : file.body);
}

function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text) + 1,
    'cache-control': 'no-store',
  });
  response.end(`${text}\n`);
}
