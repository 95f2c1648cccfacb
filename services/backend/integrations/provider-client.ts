import * as openid from 'openid-client';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { GuardedFetch } from '../http/guarded-fetch.ts';
import { notReached } from './discover.ts';
import type { Client } from './kept.ts';
import type { Provider } from './provider-metadata.ts';

export type RedirectConfig = WithConfig<'PUBLIC_FRONTEND_URL' | 'PUBLIC_BACKEND_URL'>;

/** The address to which an authorization server sends the browser back (specification, part 4). */
export function redirectUriOf({ config }: WithConfig<'PUBLIC_FRONTEND_URL'>): string {
  return `${config.PUBLIC_FRONTEND_URL.replace(/\/$/, '')}/oauth/callback`;
}

/** This platform as a client. Its address is its id at an authorization server that reads such documents. */
export const clientDocumentPath = '/oauth/client.json';

export function clientDocument(backend: RedirectConfig) {
  return { ...registration(backend), client_id: clientDocumentId(backend) };
}

function clientDocumentId({ config }: RedirectConfig): string {
  return `${config.PUBLIC_BACKEND_URL.replace(/\/$/, '')}${clientDocumentPath}`;
}

function registration(backend: RedirectConfig) {
  return {
    client_name: 'Agent Skills Platform',
    client_uri: backend.config.PUBLIC_FRONTEND_URL,
    redirect_uris: [redirectUriOf(backend)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
  };
}

/**
 * The client for an authorization server: the one that an admin entered, the document of this platform, or a
 * registration (MCP 2026-07-28, "Client Registration Approaches").
 */
export async function clientFor(
  backend: RedirectConfig,
  fetch: GuardedFetch,
  server: Provider,
  known: Client | null,
): Promise<Client> {
  const host = new URL(server.issuer).host;
  const redirectUri = redirectUriOf(backend);
  if (known?.kind === 'own') {
    // Its secret is for one authorization server, whatever the MCP server says later.
    if (known.issuer === null || known.issuer === server.issuer) return { ...known, issuer: server.issuer };
    throw new SvcError(
      'conflict',
      `The MCP server now names the authorization server ${host}, and its client is for ${new URL(known.issuer).host}.`,
      { hint: 'Check the MCP server. To use the new authorization server, enter its client.' },
    );
  }
  const document = clientDocumentId(backend);
  const common = { issuer: server.issuer, redirectUri };
  if (server.client_id_metadata_document_supported === true && document.startsWith('https:')) {
    return { kind: 'document', id: document, secret: null, ...common };
  }
  if (known?.kind === 'dynamic' && known.issuer === server.issuer && known.redirectUri === redirectUri) return known;
  if (server.registration_endpoint === undefined) throw needsClient(host, redirectUri);
  return { kind: 'dynamic', ...(await register(backend, fetch, server.registration_endpoint, host)), ...common };
}

const registered = z.object({
  client_id: z.string().min(1).max(2048),
  client_secret: z.string().max(2048).optional(),
});

/** RFC 7591. */
async function register(backend: RedirectConfig, fetch: GuardedFetch, endpoint: string, host: string) {
  const response = await fetch(endpoint, {
    ...{ method: 'POST', redirect: 'manual' },
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(registration(backend)),
  }).catch((error: unknown) => {
    throw notReached(host, error);
  });
  const answer = registered.safeParse(await response.json().catch(() => null));
  const isDone = response.status === 200 || response.status === 201;
  if (!isDone || !answer.success) throw needsClient(host, redirectUriOf(backend));
  return { id: answer.data.client_id, secret: answer.data.client_secret ?? null };
}

function needsClient(host: string, redirectUri: string): SvcError {
  return new SvcError('unsupported', `The authorization server ${host} does not register this platform by itself.`, {
    hint: `Register a client there with the redirect URI ${redirectUri}, and enter its id and secret in Workspace settings > Integrations.`,
  });
}

/** The requests of openid-client to this authorization server, as this client. */
export function openidConfiguration(fetch: GuardedFetch, server: Provider, client: Client): openid.Configuration {
  const configuration = new openid.Configuration(
    metadataOf(server),
    client.id,
    undefined,
    authenticationOf(server, client),
  );
  configuration[openid.customFetch] = fetch;
  // The fetch allows http on this machine only.
  if (server.token_endpoint.startsWith('http:')) openid.allowInsecureRequests(configuration);
  return configuration;
}

/** Without fields that are undefined. */
function metadataOf(server: Provider): openid.ServerMetadata {
  return JSON.parse(JSON.stringify(server));
}

function authenticationOf(server: Provider, { secret }: Client): openid.ClientAuth {
  if (secret === null) return openid.None();
  // RFC 8414 §2: without a list, client_secret_basic.
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const byPost = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return byPost ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret);
}
