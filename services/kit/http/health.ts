import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { SvcError } from '../../contracts/errors.ts';
import { boundStrangers } from './connections.ts';
import { errorToHttp } from './error-to-http.ts';

/** The missing requirements of the service, as sentences for an operator; an empty list means ready. */
export type Readiness = () => readonly string[];

const nothing: Readiness = () => [];

/**
 * Answers `/health` and `/ready`; returns false for any other path. `degraded` names parts that are missing while the
 * service is still ready.
 */
export function answerHealth(
  request: IncomingMessage,
  response: ServerResponse,
  ready: Readiness,
  degraded: Readiness = nothing,
): boolean {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== '/health' && path !== '/ready') return false;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    const refusal = new SvcError('unsupported', `"${path}" answers GET and HEAD only.`);
    writeJson(response, 405, errorToHttp(refusal).body);
  } else if (path === '/health') {
    writeJson(response, 200, { status: 'ok' });
  } else {
    const missing = ready();
    const lacking = missing.length === 0 ? degraded() : [];
    if (missing.length > 0) writeJson(response, 503, { status: 'not ready', missing });
    else if (lacking.length > 0) writeJson(response, 200, { status: 'degraded', degraded: lacking });
    else writeJson(response, 200, { status: 'ready' });
  }
  return true;
}

/** A server of `/health` and `/ready` and nothing else. */
export function createHealthServer(ready: Readiness): Server {
  const server = createServer((request, response) => {
    if (answerHealth(request, response, ready)) return;
    const { status, body } = errorToHttp(new SvcError('not_found', 'Only /health and /ready are served here.'));
    writeJson(response, status, body);
  });
  boundStrangers(server);
  return server;
}

/** The current state must not come from a cache. */
function writeJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
