import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import { SvcError } from '../contracts/errors.ts';
import { randomText } from '../contracts/ids.ts';
import { graphqlPath, jwksPath } from '../contracts/token.ts';
import { Connections } from '../kit/http/connections.ts';
import { Leaving } from '../kit/http/leaving.ts';
import { listen, stopListening } from '../kit/http/listen.ts';
import type { RunningService } from '../kit/service.ts';
import { addCatalogue } from './catalogue/catalogue-route.ts';
import type { Backend } from './context.ts';
import { addCrossOrigin, requireOrigin } from './cross-origin.ts';
import { addFiles } from './files/files-route.ts';
import { createGraphqlEndpoint } from './graphql/endpoint.ts';
import { addErrors } from './http-errors.ts';
import { watchReadiness } from './readiness.ts';
import type { TokenPrincipal } from './tokens/verify-token.ts';

/** A skill's instructions, several times over. */
const bodyMaxBytes = 4 * 1024 * 1024;
/** A request must have arrived by then: nobody holds a connection by sending slowly. */
const requestTimeoutMs = 30_000;
/** Operations take milliseconds; whoever stops the platform does not wait for the one that hangs. */
const stopDeadlineMs = 5_000;

/** Listens, and returns where. */
export async function startServer(backend: Backend): Promise<RunningService> {
  const { config } = backend;
  const app = fastify({
    bodyLimit: bodyMaxBytes,
    requestTimeout: requestTimeoutMs,
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    routerOptions: { maxParamLength: 200 },
  });
  const origins = [...config.CORS_ORIGINS, new URL(config.PUBLIC_BACKEND_URL).origin];
  const readiness = watchReadiness(backend);
  const leaving = new Leaving(app.server);
  const connections = new Connections(app.server);

  app.addHook('onRequest', async ({ raw }, reply) => leaving.asked(raw, reply.raw));
  addErrors(app, backend);
  addRequestLog(app, backend);
  addCrossOrigin(app, origins);
  addGraphql(app, backend, { origins, connections });
  addCatalogue(app, backend);
  addFiles(app, backend, origins);
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/ready', async (_request, reply) => {
    const { ready: isWell, checks } = await readiness.check();
    const ready = isWell && !leaving.hasBegun;
    return reply
      .code(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({
        status: ready ? 'ready' : 'not ready',
        checks: leaving.hasBegun ? { ...checks, backend: 'is stopping' } : checks,
      });
  });
  app.get(jwksPath, async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send(backend.signingKeys.jwks),
  );

  await app.ready();
  const url = await listen(app.server, { host: config.BIND_HOST, port: config.PORT });
  return {
    url,
    async stop() {
      leaving.begin();
      await leaving.quiet();
      await stopListening(app.server, stopDeadlineMs);
      await app.close();
      await readiness.stop();
    },
  };
}

/** One id follows a request through every log: the caller's, where it is one. */
function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9_-]{8,64}$/.test(given) ? given : randomText(16);
}

function addRequestLog(app: FastifyInstance, backend: Backend): void {
  const logger = backend.log('http');
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const { id, method, routeOptions } = request;
    const durationMs = Math.round(reply.elapsedTime);
    logger.debug({ request: id, method, path: routeOptions.url, status: reply.statusCode, durationMs }, 'answered');
  });
}

interface Surface {
  readonly origins: readonly string[];
  readonly connections: Connections;
}

function addGraphql(app: FastifyInstance, backend: Backend, { origins, connections }: Surface): void {
  const endpoint = createGraphqlEndpoint(backend);
  // The text goes on as it came: GraphQL reads it, and says itself what is wrong with it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.decorateRequest('principal', null);
  app.route({
    method: 'POST',
    url: graphqlPath,
    // Before the body is read: strangers cost nothing more.
    onRequest: async (request) => {
      request.principal = await authenticate(backend, request);
      requireOrigin(request, origins);
      connections.admit(request.raw.socket);
    },
    handler: async (request, reply) => {
      const { principal, body } = request;
      if (principal === null) throw new Error('a request came past its authentication');
      const response = await endpoint.answer({
        principal,
        requestId: request.id,
        body: typeof body === 'string' ? body : '',
        accept: request.headers.accept ?? 'application/json',
      });
      return reply
        .code(response.status)
        .type(response.headers.get('content-type') ?? 'application/json')
        .header('cache-control', 'no-store')
        .send(await response.text());
    },
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: TokenPrincipal | null;
  }
}

/** RFC 6750 §2.1: the header, and nowhere else. */
async function authenticate(backend: Backend, { headers }: FastifyRequest): Promise<TokenPrincipal> {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (token !== undefined) return await backend.verifyToken(token);
  throw new SvcError('unauthenticated', 'A token is missing: send it as "Authorization: Bearer <token>".');
}
