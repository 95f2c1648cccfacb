import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import { SvcError } from '../../contracts/errors.ts';
import { connectPath } from '../../contracts/token.ts';
import { errorToHttp } from '../../kit/http/error-to-http.ts';
import type { AccountCallers } from '../accounts/account-route.ts';
import { Allowance } from '../limits/allowance.ts';
import { canonicalParameters, canonicalRegistration, withScope } from './canonical-request.ts';
import { revokeAccessToken } from './connected-agents.ts';
import { errorPage } from './error-page.ts';
import { addInteractions } from './interaction-routes.ts';
import { introspectToken } from './introspect-token.ts';
import { exchangeKey, keyExchange } from './key-exchange.ts';
import type { OauthNeeds } from './oauth-needs.ts';
import { passRequest } from './pass-request.ts';
import type { ProgramAnswer, ProgramRequest } from './program.ts';

/** An agent registers once for each address of its redirects. Offices share an address. */
const registrations = { what: 'registrations', most: 60, periodMs: 60 * 60_000 };
/** Each leaves a record for ten minutes. */
const authorizations = { what: 'sign-ins of agents', most: 120, periodMs: 10 * 60_000 };
/** Each token is valid for some minutes, and is asked about once or twice. */
const programs = { what: 'requests of programs', most: 600, periodMs: 10 * 60_000 };
const wellKnown = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

/** Pages of any origin may use these: browsers' clients such as the MCP Inspector. They use no cookies. */
export function isOpenToAllOrigins(url: string): boolean {
  const [path = ''] = url.split('?', 1);
  return openPaths.has(path) || wellKnown.some((one) => path === one || path.startsWith(`${one}/`));
}

const openPaths = new Set(['token', 'register', 'revoke'].map((name) => `${connectPath}/${name}`));

/** The authorization server of agents: OAuth 2.1 as MCP uses it ("Authorization"), with consent by a signed-in person. */
export function addOauth(app: FastifyInstance, backend: OauthNeeds, callers: AccountCallers): void {
  const { config } = backend;
  const authorizationServer = onFirstUse(backend);
  const mcpUrl = config.PUBLIC_MCP_URL;
  const registering = new Allowance(registrations);
  const authorizing = new Allowance(authorizations);
  const allowed = new Allowance(programs);
  const { strangers } = callers;
  const pass = async (exchange: Exchange, url: string, body: Buffer | null = null) => {
    const passed = { url, body, network: strangers.networkOf(exchange.request) };
    await passRequest(await authorizationServer(), backend, exchange, passed);
  };

  addInteractions(app, { backend, authorizationServer, callers });

  app.get(`${connectPath}/authorize`, { errorHandler: showError }, async (request, reply) => {
    authorizing.use(strangers.networkOf(request));
    const given = new URL(request.url, mcpUrl).searchParams;
    const parameters = withScope(canonicalParameters(given, mcpUrl));
    return await pass({ request, reply }, `${connectPath}/authorize?${parameters}`);
  });
  app.get<{ Params: { uid: string } }>(`${connectPath}/authorize/:uid`, async (request, reply) =>
    pass({ request, reply }, `${connectPath}/authorize/${encodeURIComponent(request.params.uid)}`),
  );

  const answerProgram = async (
    { request, reply }: Exchange,
    form: URLSearchParams,
    work: (backend: OauthNeeds, request: ProgramRequest) => Promise<ProgramAnswer>,
  ) => {
    allowed.use(strangers.networkOf(request));
    const { status, headers, body } = await work(backend, { form, authorization: request.headers.authorization });
    await reply.code(status).headers(headers).send(body);
  };
  const readForm = async (request: FastifyRequest) => {
    const given = new URLSearchParams((await strangers.read(request)).toString());
    const parameters = canonicalParameters(given, mcpUrl);
    // A refresh keeps its scope.
    if (parameters.get('grant_type') !== keyExchange) parameters.delete('scope');
    return Buffer.from(parameters.toString());
  };
  addPost(app, 'token', {
    read: readForm,
    pass: async (exchange, url, body = null) => {
      const form = new URLSearchParams(String(body));
      if (form.get('grant_type') !== keyExchange) return await pass(exchange, url, body);
      await answerProgram(exchange, form, exchangeKey);
    },
  });
  app.post(`${connectPath}/introspect`, async (request, reply) => {
    const form = new URLSearchParams((await strangers.read(request)).toString());
    await answerProgram({ request, reply }, form, introspectToken);
  });
  addPost(app, 'revoke', {
    read: readForm,
    pass: async (exchange, url, body = null) => {
      const form = new URLSearchParams(String(body));
      const isRevoked = await revokeAccessToken(backend, form.get('token') ?? '', form.get('client_id'));
      if (!isRevoked) return await pass(exchange, url, body);
      await exchange.reply.code(200).header('cache-control', 'no-store').send();
    },
  });
  addPost(app, 'register', {
    read: async (request) => {
      registering.use(strangers.networkOf(request));
      return canonicalRegistration(await strangers.read(request));
    },
    pass,
  });

  const { pathname } = new URL(config.PUBLIC_BACKEND_URL);
  for (const path of wellKnown) {
    // RFC 8414 §3.1: for an issuer with a path, its metadata are at the well-known path before that path.
    const paths = pathname === '/' ? [path] : [path, `${path}${pathname.replace(/\/$/, '')}`];
    for (const url of paths) {
      app.route({
        method: ['GET', 'OPTIONS'],
        url,
        handler: async (request, reply) => pass({ request, reply }, path),
      });
    }
  }
}

/** oidc-provider takes 18 MB, which an installation without agents that sign in does not need. */
function onFirstUse(backend: OauthNeeds): () => Promise<Provider> {
  let created: Promise<Provider> | null = null;
  return () => {
    created ??= import('./authorization-server.ts').then((module) => module.createAuthorizationServer(backend));
    return created;
  };
}

/** A person's browser asks, so a page answers. Other errors are bugs. */
function showError(thrown: unknown, _request: FastifyRequest, reply: FastifyReply): void {
  if (!(thrown instanceof SvcError)) throw thrown;
  const { html, headers } = errorPage([thrown.message, thrown.hint].join(' ').trim());
  reply.code(errorToHttp(thrown).status).headers(headers).send(html);
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface PostRoute {
  readonly read: (request: FastifyRequest) => Promise<Buffer>;
  readonly pass: (exchange: Exchange, url: string, body?: Buffer | null) => Promise<void>;
}

function addPost(app: FastifyInstance, name: string, { read, pass }: PostRoute): void {
  const url = `${connectPath}/${name}`;
  app.post(url, async (request, reply) => {
    permitPage({ request, reply });
    const body = await read(request);
    return await pass({ request, reply }, url, body);
  });
  app.options(url, async (request, reply) => {
    permitPage({ request, reply });
    return reply.code(204).headers(preflight).send();
  });
}

/** Fetch standard, "CORS protocol". A page of any origin reads every answer, also a refusal. It sends no cookies. */
function permitPage({ request, reply }: Exchange): void {
  const { origin } = request.headers;
  if (origin !== undefined) reply.raw.setHeader('access-control-allow-origin', origin);
  reply.raw.setHeader('vary', 'origin');
}

/** Clients send the revision of MCP with every request (2025-11-25, "Authorization Server Metadata Discovery"). */
const preflight = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
  'access-control-max-age': '600',
};
