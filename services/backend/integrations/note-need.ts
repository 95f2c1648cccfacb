import type { Challenge, Reason } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import { needsAuthorizationCode } from '../../contracts/reason-codes.ts';
import type { Node, Transaction } from '../graph/graph.ts';

/** A refusal so soon after a renewal may be about the token before. */
const renewedRecentlyMs = 60_000;

/**
 * An MCP server answered 401. The first time this makes its integration; later its tokens are renewed at once. The claims
 * come from a stranger: they are used when a person connects.
 */
export async function noteNeed(
  transaction: Transaction,
  server: Node<'mcpServer'>,
  reason: Reason | null,
): Promise<void> {
  if (reason?.code !== needsAuthorizationCode || server.kind !== 'http') return;
  const { id: mcpServer, workspace } = server;
  const challenge = textOf(reason.challenge);
  const known = await transaction.findBy('integration', { mcpServer }, workspace);
  if (known === null) {
    const id = newId('integration');
    const none = { issuer: null, clientKind: null, clientId: null, client: null, wantedScopes: null, scopes: null };
    const later = { pending: null, tokens: null, problem: null, dueAt: null, expiresAt: null };
    await transaction.create('integration', {
      ...{ id, workspace, mcpServer, state: 'needs_authorization', challenge, attempts: 0, ...none, ...later },
      ...{ refreshedAt: null, connectedAt: null, createdAt: Date.now() },
    });
    await transaction.link({ from: 'integration', edge: 'server' }, id, [mcpServer]);
    return;
  }
  const isRefused = known.tokens !== null && Date.now() - (known.refreshedAt ?? 0) > renewedRecentlyMs;
  const dueAt = isRefused && known.attempts === 0 ? Math.min(known.dueAt ?? Date.now(), Date.now()) : known.dueAt;
  if (challenge === known.challenge && dueAt === known.dueAt) return;
  await transaction.update('integration', known.id, { challenge, dueAt }, { anchor: workspace, keepsVersion: true });
}

function textOf(challenge: Challenge = {}): string | null {
  const { resourceMetadata, scope } = challenge;
  return resourceMetadata === undefined && scope === undefined ? null : JSON.stringify({ resourceMetadata, scope });
}
