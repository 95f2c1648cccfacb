import * as openid from 'openid-client';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { findId, type WorkspaceId } from '../../contracts/ids.ts';
import { change } from '../activity/change.ts';
import { differences } from '../activity/record-activity.ts';
import type { Node } from '../graph/graph.ts';
import { within } from '../http/guarded-fetch.ts';
import { getAccess } from '../members/access.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';
import { discover, notReached } from './discover.ts';
import { getConnection, giveNewToken, type IntegrationNeeds, isSameUrl, noTokens, urlOf } from './integrations.ts';
import { keep, type Pending, read } from './kept.ts';
import { clientFor, openidConfiguration, redirectUriOf } from './provider-client.ts';
import { scopeList } from './provider-metadata.ts';
import { nextRefreshAt, parseTokens } from './tokens.ts';

/** A person has this long at the provider. */
const pendingMs = 10 * 60_000;
/** For all requests before the person goes there. */
const beginMaxMs = 6000;

/** Begins the authorization. Returns the address at the authorization server for the person's browser. */
export async function beginAuthorization(
  backend: IntegrationNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
): Promise<string> {
  const person = requirePerson(principal);
  await getAccess(backend.graph, { principal, workspace, right: 'administer' });
  const { integration, server } = await getConnection(backend.graph, workspace, id);
  const url = urlOf(backend, server);
  const { fetch, queue } = backend.integrations;
  const { found, client } = await queue.run(workspace, async () => {
    const fetchSoon = within(fetch, beginMaxMs);
    const found = await discover(fetchSoon, url, challengeOf(integration));
    const known = read(backend, integration, 'client');
    return { found, client: await clientFor(backend, fetchSoon, found.provider, known) };
  });
  const scopes = listIn(integration.wantedScopes) ?? found.scopes;
  const pending: Pending = {
    ...{ url: url.href, resource: found.resource, provider: found.provider, client, scopes: [...scopes] },
    state: `${workspace}.${integration.id}.${openid.randomState()}`,
    verifier: openid.randomPKCECodeVerifier(),
    ...{ user: person.user, session: person.session, expiresAt: Date.now() + pendingMs },
  };
  const address = openid.buildAuthorizationUrl(openidConfiguration(fetch, pending.provider, client), {
    ...{ redirect_uri: redirectUriOf(backend), state: pending.state, resource: pending.resource },
    code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  });
  await backend.graph.write(async (transaction) => {
    await getAccess(transaction, { principal, workspace, right: 'administer' });
    const kept = {
      client: keep(backend, integration, 'client', client),
      pending: keep(backend, integration, 'pending', pending),
    };
    const shown = { clientKind: client.kind, clientId: client.id };
    // Another version: somebody has entered another client meanwhile.
    const options = { anchor: workspace, keepsVersion: true, ifVersion: integration.version };
    await transaction.update('integration', integration.id, { ...kept, ...shown }, options);
  });
  return address.href;
}

export const answerLengthMax = 8192;

/**
 * Ends the authorization with the query that the authorization server gave the browser. Only the browser session that
 * began it may end it, once.
 */
export async function finishAuthorization(
  backend: IntegrationNeeds,
  principal: TokenPrincipal,
  answer: string,
): Promise<Node<'integration'>> {
  const person = requirePerson(principal);
  if (answer.length > answerLengthMax) throw foreignAnswer();
  const search = new URLSearchParams(answer);
  const [state = '', ...more] = search.getAll('state');
  const named = placeIn(state);
  if (named === null || more.length > 0) throw foreignAnswer();
  const pending = await takePending(backend, person, { ...named, state });
  const host = new URL(pending.provider.issuer).host;
  const error = search.get('error');
  if (error !== null) throw refused(host, error);
  const received = await backend.integrations.queue.run(named.workspace, () => exchange(backend, pending, search));
  const tokens = parseTokens(received, pending);
  return await change(backend, { principal, workspace: named.workspace, right: 'administer' }, async (change) => {
    const { transaction, workspace } = change;
    const { integration, server } = await getConnection(transaction, workspace, named.id);
    if (!isSameUrl(urlOf(backend, server), new URL(pending.url))) {
      throw new SvcError('conflict', `The URL of the MCP server "${server.name}" was changed meanwhile.`, {
        hint: 'Connect again.',
      });
    }
    const now = Date.now();
    const scopes = JSON.stringify(tokens.scopes ?? pending.scopes);
    const runtimes = await giveNewToken(transaction, server);
    change.record({
      ...{ action: 'update', subject: integration.id, subjectKind: 'integration', subjectName: server.name },
      changes: differences(
        { state: integration.state, issuer: integration.issuer },
        { state: 'connected', issuer: pending.provider.issuer, scopes: listIn(scopes) ?? [] },
      ),
    });
    change.announce({ kind: 'command', runtimes, command: { kind: 'assignments' } });
    const fields = {
      ...noTokens,
      ...{ state: 'connected', issuer: pending.provider.issuer, scopes, pending: null, problem: null },
      tokens: keep(backend, integration, 'tokens', tokens.kept),
      ...{ expiresAt: tokens.expiresAt, dueAt: nextRefreshAt(tokens), refreshedAt: now, connectedAt: now },
    };
    return await transaction.update('integration', integration.id, fields, { anchor: workspace });
  });
}

async function exchange(backend: IntegrationNeeds, pending: Pending, search: URLSearchParams) {
  const configuration = openidConfiguration(backend.integrations.fetch, pending.provider, pending.client);
  const address = new URL(`${redirectUriOf(backend)}?${search}`);
  // Checks the state, and the issuer of the answer (RFC 9207), so that no other server's code is sent to this one.
  const checks = { expectedState: pending.state, pkceCodeVerifier: pending.verifier };
  return await openid
    .authorizationCodeGrant(configuration, address, checks, { resource: pending.resource })
    .catch((thrown: unknown) => {
      throw explain(thrown, new URL(pending.provider.issuer).host);
    });
}

interface Named {
  readonly workspace: WorkspaceId;
  readonly id: string;
  readonly state: string;
}

/** Another session's answer leaves the authorization open, so that nobody ends the one of another person. */
async function takePending(
  backend: IntegrationNeeds,
  person: UserPrincipal,
  { workspace, id, state }: Named,
): Promise<Pending> {
  return await backend.graph.write(async (transaction) => {
    await getAccess(transaction, { principal: person, workspace, right: 'administer' });
    const { integration } = await getConnection(transaction, workspace, id);
    const pending = read(backend, integration, 'pending');
    const isOwn = pending?.state === state && pending.session === person.session && pending.user === person.user;
    if (!isOwn) throw foreignAnswer();
    await transaction.update(
      'integration',
      integration.id,
      { pending: null },
      { anchor: workspace, keepsVersion: true },
    );
    if (pending.expiresAt <= Date.now()) throw foreignAnswer();
    return pending;
  });
}

function requirePerson(principal: TokenPrincipal): UserPrincipal {
  if (principal.kind === 'user') return principal;
  throw new SvcError('forbidden', 'A person connects an integration, in the browser.', {
    hint: 'Open Workspace settings > Integrations: svc open',
  });
}

function placeIn(state: string): Omit<Named, 'state'> | null {
  const [first = '', second = '', random] = state.split('.');
  const workspace = findId('workspace', first);
  const id = findId('integration', second);
  return workspace === null || id === null || random === undefined ? null : { workspace, id };
}

function foreignAnswer(): SvcError {
  return new SvcError('invalid_input', 'Authorization failed: this browser session began no such authorization.', {
    hint: 'It has ended, was begun in another browser, or is older than ten minutes. Connect again.',
  });
}

/** RFC 6749 §4.1.2.1 and §5.2. */
const knownErrors = [
  ...['access_denied', 'invalid_request', 'invalid_scope', 'invalid_grant', 'invalid_client', 'unauthorized_client'],
  ...['server_error', 'temporarily_unavailable', 'unsupported_response_type', 'unsupported_grant_type'],
  ...['invalid_target', 'invalid_token'],
];

function refused(host: string, error: string, cause?: unknown): SvcError {
  const code = knownErrors.includes(error) ? error : 'another error';
  return new SvcError('forbidden', `Authorization failed: ${host} refused it (${code}).`, {
    hint: hintOf(error),
    cause,
  });
}

function hintOf(error: string): string {
  switch (error) {
    case 'access_denied':
      return 'The person refused, or may not grant these scopes. Connect again.';
    case 'invalid_scope':
      return 'Grant the scopes to the client at the provider, or change them here, and connect again.';
    case 'invalid_client':
    case 'unauthorized_client':
      return 'Check the id and the secret of the client.';
    default:
      return 'Register the redirect URI at the provider exactly as it is shown here, and connect again.';
  }
}

function explain(thrown: unknown, host: string): SvcError {
  if (thrown instanceof openid.ResponseBodyError || thrown instanceof openid.AuthorizationResponseError)
    return refused(host, thrown.error, thrown);
  if (thrown instanceof openid.ClientError && isWithoutAnswer(thrown)) return notReached(host, thrown.cause);
  // Anything that openid-client itself refuses, such as another issuer.
  if (thrown instanceof openid.ClientError || thrown instanceof TypeError) {
    const hint = 'Connect again. If it fails again, check the MCP server: its answer may be forged.';
    return new SvcError('forbidden', `Authorization failed: the answer of ${host} is not valid.`, {
      hint,
      cause: thrown,
    });
  }
  return notReached(host, thrown);
}

/** The request failed. openid-client has a code for each fault of an answer. */
function isWithoutAnswer({ code }: openid.ClientError): boolean {
  return code === undefined || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT';
}

const challengeShape = z.object({ resourceMetadata: z.string().optional(), scope: z.string().optional() });

function challengeOf({ challenge }: Node<'integration'>) {
  return challenge === null ? {} : challengeShape.parse(JSON.parse(challenge));
}

/** A stored list of scopes. */
export function listIn(text: string | null): readonly string[] | null {
  return text === null ? null : scopeList.parse(JSON.parse(text));
}
