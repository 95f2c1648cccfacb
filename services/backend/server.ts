import { createServer } from 'node:http';
import { type FastifyInstance, fastify } from 'fastify';
import { randomText } from '../contracts/ids.ts';
import { jwksPath } from '../contracts/token.ts';
import { Budget } from '../kit/budget.ts';
import { AdmittedConnections } from '../kit/http/admitted-connections.ts';
import { Connections } from '../kit/http/connections.ts';
import { inTurn } from '../kit/http/in-turn.ts';
import { Leaving } from '../kit/http/leaving.ts';
import { listen, stopListening } from '../kit/http/listen.ts';
import type { RunningService } from '../kit/service.ts';
import { createAccountRoutes } from './accounts/account-route.ts';
import { addAccounts } from './accounts/account-routes.ts';
import { addProviderRoutes } from './accounts/provider-sign-in.ts';
import { addCatalogue } from './catalogue/catalogue-route.ts';
import type { Backend } from './context.ts';
import { addFiles } from './files/files-route.ts';
import { addGraphql } from './graphql/graphql-route.ts';
import { addCrossOrigin } from './http/cross-origin.ts';
import { addErrors } from './http/http-errors.ts';
import { clientDocument, clientDocumentPath } from './integrations/provider-client.ts';
import { Strangers } from './limits/strangers.ts';
import { addOauth, isOpenToAllOrigins } from './oauth/oauth-routes.ts';
import { watchReadiness } from './readiness.ts';
import { addInvitationRoutes } from './workspaces/accept-invitation.ts';

/** A request must have arrived by then: a slow sender cannot hold a connection. */
const requestTimeoutMs = 30_000;
/** A client that does not read its answer keeps its connection no longer than this; proxies keep an idle one for less. */
const silenceMaxMs = 90_000;
/** Connections with a valid token, and the limit of one user: a browser opens six, a proxy some dozens. */
const connectionsMax = 4096;
const connectionShares = { user: 512 };
/** Longer than any usual proxy's, so that no request meets a closing connection. */
const keepAliveMs = 75_000;
const serverOptions = { requestTimeout: requestTimeoutMs, keepAliveTimeout: keepAliveMs };
/** Operations take milliseconds; a hanging one does not delay a stop further. */
const stopDeadlineMs = 5_000;

/** Listens, and returns the address. */
export async function startServer(backend: Backend): Promise<RunningService> {
  const { config } = backend;
  const app = fastify({
    serverFactory: (handle) => createServer(serverOptions, inTurn(handle)).setTimeout(silenceMaxMs),
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    routerOptions: { maxParamLength: 200 },
    schemaController: { compilersFactory: withoutSchemas },
  });
  const origins = [...config.CORS_ORIGINS, new URL(config.PUBLIC_BACKEND_URL).origin];
  const readiness = watchReadiness(backend);
  const leaving = new Leaving(app.server);
  const hint = 'Close connections that are no longer used.';
  const places = new Budget({ what: 'connections', total: connectionsMax, shares: connectionShares, hint });
  const connections = new AdmittedConnections(new Connections(app.server, { admittedMax: connectionsMax }), places);

  app.addHook('onRequest', async ({ raw }, reply) => leaving.asked(raw, reply.raw));
  // Only routes that know the sender read a body.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  addErrors(app, backend);
  addRequestLog(app, backend);
  addCrossOrigin(app, origins, isOpenToAllOrigins);
  const strangers = new Strangers(backend);
  addProviderRoutes(app, backend, strangers);
  createAccountRoutes(app, { origins, strangers }, (account) => {
    addAccounts(account, backend);
    addInvitationRoutes(account, backend);
  });
  addOauth(app, backend, { origins, strangers });
  const sockets = addGraphql(app, backend, { origins, connections });
  addCatalogue(app, backend);
  addFiles(app, backend, origins);
  app.get(clientDocumentPath, async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send(clientDocument(backend)),
  );
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
      sockets.stop();
      await stopListening(app.server, stopDeadlineMs);
      await app.close();
      await readiness.stop();
    },
  };
}

/** Each route reads its own input. Fastify's compilers of schemas are large, and this keeps them from loading. */
const withoutSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('a route has a schema');
}

/** One id follows a request through every log: the caller's, when valid. */
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
