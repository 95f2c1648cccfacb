import { exportJWK, type JWK } from 'jose';
import Provider, { type Configuration, errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { SvcError } from '../../contracts/errors.ts';
import { findId } from '../../contracts/ids.ts';
import { agentScopes, connectPath, jwksPath, keyClaim } from '../../contracts/token.ts';
import { cookie } from '../accounts/cookies.ts';
import { noteClientUse } from './clients.ts';
import { extendAgent, findAgent, isConnected } from './connected-agents.ts';
import { DocumentFetches } from './document-fetches.ts';
import { errorPage, messageOf } from './error-page.ts';
import { interactionCookie, interactionSeconds } from './interaction-cookie.ts';
import type { OauthNeeds } from './oauth-needs.ts';
import { networkHeader } from './pass-request.ts';
import { Records } from './records.ts';
import { createStore } from './store.ts';

/** A client exchanges its code at once. */
const codeSeconds = 60;
/** An agent that refreshes is written at most once in this part of its lifetime. */
const extendedAfter = 0.01;
/** Of a metadata document, in seconds. */
const cacheDuration = { min: 60, max: 86_400 };
const { Check, Prompt } = interactionPolicy;

/** oidc-provider with our graph as its store, our sessions as its persons, and our signing key. */
export async function createAuthorizationServer(backend: OauthNeeds): Promise<Provider> {
  const { config, secrets } = backend;
  const records = new Records(backend);
  const provider = new Provider(config.PUBLIC_BACKEND_URL, {
    ...setup(backend, records),
    adapter: createStore(backend, records),
    jwks: { keys: [await signingKeyOf(backend)] },
    cookies: {
      keys: [secrets.sign('cookies of the authorization server')],
      names: {
        session: cookieName(backend, 'oauth-session'),
        interaction: cookieName(backend, 'oauth-interaction'),
        resume: cookieName(backend, 'oauth-resume'),
      },
      short: { httpOnly: true, sameSite: 'lax' },
      long: { httpOnly: true, sameSite: 'lax' },
    },
  });
  // `passRequest` sets the headers that this believes.
  provider.proxy = true;
  provider.on('server_error', (_ctx, error) =>
    backend.log('oauth').error({ err: error }, 'authorization server failed'),
  );
  return provider;
}

/** oidc-provider gives its cookies paths, which the prefix `__Host-` does not allow (RFC 6265bis §4.1.3.2). */
function cookieName(backend: OauthNeeds, use: string): string {
  return cookie(backend, { use, sameSite: 'Lax' }).name.replace('__Host-', '__Secure-');
}

function setup(backend: OauthNeeds, records: Records): Configuration {
  const { config } = backend;
  const documents = new DocumentFetches();
  return {
    routes: {
      authorization: `${connectPath}/authorize`,
      token: `${connectPath}/token`,
      registration: `${connectPath}/register`,
      revocation: `${connectPath}/revoke`,
      introspection: `${connectPath}/introspect`,
      jwks: jwksPath,
    },
    scopes: [...agentScopes],
    responseTypes: ['code'],
    // Programs on people's machines cannot keep a secret (RFC 8252 §8.5), so no registered client has one. The others
    // are for `exchangeKey`.
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'EdDSA',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    ttl: {
      AccessToken: config.JWT_ACCESS_TOKEN_TTL,
      AuthorizationCode: codeSeconds,
      RefreshToken: config.JWT_REFRESH_TOKEN_TTL,
      Grant: config.JWT_REFRESH_TOKEN_TTL,
      Interaction: interactionSeconds,
      Session: interactionSeconds,
    },
    interactions: {
      policy: alwaysAsk(),
      url: (ctx, interaction) => {
        ctx.res.appendHeader('set-cookie', interactionCookie(backend, interaction.uid));
        return `${config.PUBLIC_FRONTEND_URL}${connectPath}/${interaction.uid}`;
      },
    },
    findAccount: async (_ctx, sub, token) => {
      const user = findId('user', sub);
      const grant = token !== undefined && 'grantId' in token ? token.grantId : undefined;
      if (user === null || (await backend.graph.find('user', user, null)) === null) return undefined;
      if (grant !== undefined && !(await isConnected(backend, grant, user))) return undefined;
      return { accountId: sub, claims: () => ({ sub }) };
    },
    formats: {
      customizers: {
        jwt: async (_ctx, token, { payload }) => {
          payload.iss = config.JWT_ISSUER;
          payload[keyClaim] = await useGrant(backend, records, 'grantId' in token ? token.grantId : undefined);
        },
      },
    },
    renderError: (ctx, error) => {
      const { html, headers } = errorPage(messageOf(error));
      ctx.set({ ...headers });
      ctx.body = html;
    },
    fetch: (from) => documents.fetch(String(from)),
    features: {
      devInteractions: { enabled: false },
      // No route leads to it, and no proof reaches the provider (`passRequest`).
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      // Only named here, in the metadata: `exchangeKey` answers, and no registered client has this grant type.
      clientCredentials: { enabled: true },
      // Only named here, too: `introspectToken` answers.
      introspection: { enabled: true },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      // RFC 7009 §2.1: a client revokes its own tokens.
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        cacheDuration,
        allowFetch: (ctx, id) => mayFetch(documents, ctx, id),
        allowClient: () => true,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => config.PUBLIC_MCP_URL,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx: KoaContextWithOIDC, resource: string) => {
          if (resource !== config.PUBLIC_MCP_URL) throw new errors.InvalidTarget();
          return {
            scope: agentScopes.join(' '),
            audience: config.PUBLIC_MCP_URL,
            accessTokenTTL: config.JWT_ACCESS_TOKEN_TTL,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'EdDSA' } },
          };
        },
      },
    },
  };
}

/** No request is under way when the page of the consent reads a client again. */
function mayFetch(documents: DocumentFetches, ctx: KoaContextWithOIDC | undefined, id: string): boolean {
  try {
    return documents.isAdmitted(id, ctx === undefined ? null : ctx.get(networkHeader));
  } catch (error) {
    if (error instanceof SvcError) throw new errors.TemporarilyUnavailable(error.message);
    throw error;
  }
}

/** The page asks at each connection, so that a person sees who gets access, and to which workspace. */
function alwaysAsk() {
  const undone = (name: 'login' | 'consent') => (ctx: KoaContextWithOIDC) => ctx.oidc.result?.[name] === undefined;
  return [
    new Prompt(
      { name: 'login', requestable: true },
      new Check('not_proven', 'The person is not proven yet', undone('login')),
    ),
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('not_asked', 'The person has not consented yet', undone('consent')),
    ),
  ];
}

/** Each access token comes from a code or a refresh token. Both show that the agent is in use. */
async function useGrant(backend: OauthNeeds, records: Records, grant: string | undefined): Promise<string> {
  const key = grant === undefined ? null : await findAgent(backend, grant);
  if (grant === undefined || key === null) throw new errors.InvalidGrant('the agent is not connected');
  const lifetimeMs = backend.config.JWT_REFRESH_TOKEN_TTL * 1000;
  const expiresAt = Date.now() + lifetimeMs;
  if (expiresAt - (key.expiresAt ?? 0) >= lifetimeMs * extendedAfter) {
    await extendAgent(backend, key, expiresAt);
    await records.extend({ kind: 'Grant', id: grant }, expiresAt);
    if (key.client !== null) await noteClientUse(backend, key.client);
  }
  return key.id;
}

/** oidc-provider signs with the key by itself, and names it by the same id as the published keys. */
async function signingKeyOf({ signingKeys }: OauthNeeds): Promise<JWK> {
  const jwk = await exportJWK(signingKeys.privateKey);
  return { ...jwk, kid: signingKeys.verifying[0]?.kid ?? '', alg: 'EdDSA', use: 'sig' };
}
