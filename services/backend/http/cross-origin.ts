import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SvcError } from '../../contracts/errors.ts';

/**
 * CORS (Fetch standard, "CORS protocol") for the origins in CORS_ORIGINS, and for the backend's own pages, with their
 * cookies. A preflight from another origin is refused; a request from one gets no permission, and `requireOrigin`
 * refuses it. Paths that are open to all origins have their own rules.
 */
export function addCrossOrigin(
  app: FastifyInstance,
  origins: readonly string[],
  isOpenToAll: (url: string) => boolean,
): void {
  app.addHook('onRequest', async (request, reply) => {
    if (isOpenToAll(request.url)) return;
    reply.header('vary', 'Origin').header('x-content-type-options', 'nosniff');
    const { origin } = request.headers;
    if (origin !== undefined && origins.includes(origin)) {
      reply
        .header('access-control-allow-origin', origin)
        .header('access-control-allow-credentials', 'true')
        .header('access-control-expose-headers', exposed);
    }
    if (isPreflight(request)) return answerPreflight(request, reply, origins);
  });
}

type WithHeaders = Pick<IncomingMessage, 'headers'>;

export function requireOrigin(request: WithHeaders, origins: readonly string[]): void {
  const { origin } = request.headers;
  if (origin === undefined || origins.includes(origin)) return;
  throw new SvcError('forbidden', `The origin "${origin.slice(0, 200)}" may not call the backend.`, {
    hint: 'Add it to CORS_ORIGINS.',
  });
}

/**
 * A cookie comes with every request to the backend, whichever page sends it. Every browser names the page's origin with
 * a POST (Fetch standard, "append a request Origin header"), so one without an origin is refused too.
 */
export function requireBrowser(request: WithHeaders, origins: readonly string[]): void {
  requireOrigin(request, origins);
  if (request.headers.origin !== undefined) return;
  throw new SvcError('forbidden', 'The request has no Origin header, so it is from no page of this platform.', {
    hint: 'Programs send a token: "Authorization: Bearer <token>".',
  });
}

const exposed = 'x-request-id';
const permitted = { methods: 'GET, POST, PUT', headers: 'authorization, content-type, x-request-id' };
const rememberSeconds = 600;

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): FastifyReply {
  requireOrigin(request, origins);
  return reply
    .code(204)
    .header('access-control-allow-methods', permitted.methods)
    .header('access-control-allow-headers', permitted.headers)
    .header('access-control-max-age', rememberSeconds)
    .send();
}
