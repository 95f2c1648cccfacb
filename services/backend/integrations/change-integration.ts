import type { Changes } from '../../contracts/activity-changes.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { change } from '../activity/change.ts';
import { differences } from '../activity/record-activity.ts';
import type { Node } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { listIn } from './authorize.ts';
import { getConnection, giveNewToken, type IntegrationNeeds, noTokens } from './integrations.ts';
import { keep } from './kept.ts';
import { scopeList, scopesMax } from './provider-metadata.ts';
import { revokeTokensOf } from './revoke-tokens.ts';

export interface IntegrationPatch {
  /** Absent or null: unchanged. Empty: those that the MCP server asks for. */
  readonly scopes?: readonly string[] | null | undefined;
  /** Empty: the platform registers itself. */
  readonly clientId?: string | null | undefined;
  readonly clientSecret?: string | null | undefined;
}

/** The scopes and the client of the next connection. */
export function updateIntegration(
  backend: IntegrationNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
  patch: IntegrationPatch,
): Promise<Node<'integration'>> {
  return change(backend, { principal, workspace, right: 'administer' }, async (change) => {
    const { integration, server } = await getConnection(change.transaction, workspace, id);
    const changed = { ...changedScopes(patch), ...changedClient(backend, integration, patch) };
    const changes = changesOf(integration, changed);
    if (Object.keys(changes).length === 0) return integration;
    const subject = { subject: integration.id, subjectKind: 'integration', subjectName: server.name } as const;
    change.record({ action: 'update', ...subject, changes });
    // An authorization that has begun is for the client before.
    const fields = { ...changed, pending: null };
    return await change.transaction.update('integration', integration.id, fields, { anchor: workspace });
  });
}

interface Changed {
  readonly wantedScopes?: string | null;
  readonly clientKind?: string | null;
  readonly clientId?: string | null;
  readonly client?: string | null;
}

function changesOf(before: Node<'integration'>, { client, wantedScopes, ...shown }: Changed): Changes {
  return {
    ...differences({ clientId: before.clientId, clientKind: before.clientKind }, { ...shown }),
    ...(client == null ? {} : { client: 'changed' as const }),
    ...(wantedScopes === undefined
      ? {}
      : differences({ scopes: listIn(before.wantedScopes) ?? [] }, { scopes: listIn(wantedScopes) ?? [] })),
  };
}

function changedScopes({ scopes }: IntegrationPatch): Changed {
  if (scopes == null) return {};
  const parsed = scopeList.safeParse([...new Set(scopes)]);
  if (!parsed.success) {
    throw new SvcError('invalid_input', `Scopes are at most ${scopesMax} words of visible characters, without quotes.`);
  }
  return { wantedScopes: parsed.data.length === 0 ? null : JSON.stringify(parsed.data) };
}

const visible = /^[\x20-\x7e]{1,2048}$/;

function changedClient(backend: IntegrationNeeds, before: Node<'integration'>, patch: IntegrationPatch): Changed {
  const id = patch.clientId?.trim();
  if (id === undefined) {
    if (patch.clientSecret == null) return {};
    throw new SvcError('invalid_input', 'A client secret needs its client id.');
  }
  if (id === '') return { client: null, clientId: null, clientKind: null };
  const secret = patch.clientSecret?.trim() ?? '';
  if (!visible.test(id) || (secret !== '' && !visible.test(secret))) {
    throw new SvcError('invalid_input', 'A client id and its secret have 1 to 2048 visible ASCII characters.');
  }
  const own = { kind: 'own', id, secret: secret === '' ? null : secret, issuer: null, redirectUri: null } as const;
  return { client: keep(backend, before, 'client', own), clientId: id, clientKind: 'own' };
}

/** Forgets the tokens, and revokes them at the provider where it allows it (RFC 7009). */
export async function disconnectIntegration(
  backend: IntegrationNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
): Promise<Node<'integration'>> {
  const { before, after } = await change(backend, { principal, workspace, right: 'administer' }, async (change) => {
    const { transaction } = change;
    const { integration, server } = await getConnection(transaction, workspace, id);
    if (integration.state === 'needs_authorization' && integration.tokens === null) {
      return { before: integration, after: integration };
    }
    const state = 'needs_authorization';
    change.record({
      ...{ action: 'update', subject: integration.id, subjectKind: 'integration', subjectName: server.name },
      changes: differences({ state: integration.state }, { state }),
    });
    const runtimes = await giveNewToken(transaction, server);
    change.announce({ kind: 'command', runtimes, command: { kind: 'assignments' } });
    const fields = { ...noTokens, state, pending: null, problem: null, scopes: null, connectedAt: null };
    const after = await transaction.update('integration', integration.id, fields, { anchor: workspace });
    return { before: integration, after };
  });
  await revokeTokensOf(backend, before);
  return after;
}
