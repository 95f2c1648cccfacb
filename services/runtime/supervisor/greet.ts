import type { Reason } from '../../contracts/bus/messages.ts';
import { isObject } from '../../contracts/is-object.ts';
import type { Conversation } from './conversation.ts';

export type Greeting =
  | { readonly ok: true; readonly offersTools: boolean }
  | { readonly ok: false; readonly reason: Reason };

/** The newest revision with the handshake of this era, and the older ones that MCP servers may answer with. */
const ownRevision = '2025-11-25';
const knownRevisions = [ownRevision, '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/**
 * The handshake of MCP 2025-11-25 ("Lifecycle", Initialization). No capability is declared: a shared MCP server that
 * requested sampling, elicitation or roots could not name the agent it means.
 */
export async function greet(conversation: Conversation, version: string, timeoutMs: number): Promise<Greeting> {
  const params = {
    protocolVersion: ownRevision,
    capabilities: {},
    clientInfo: { name: 'svc-runtime', title: 'Runtime of svc', version },
  };
  const answer = await conversation.ask('initialize', params, timeoutMs);
  const body: unknown = JSON.parse(Buffer.from(answer.payload).toString('utf8'));
  if (answer.kind === 'error' || !isObject(body)) return { ok: false, reason: refused(body) };
  const revision = typeof body.protocolVersion === 'string' ? body.protocolVersion : '';
  if (!knownRevisions.includes(revision)) return { ok: false, reason: unknownRevision(revision.slice(0, 100)) };
  conversation.notify('notifications/initialized');
  return { ok: true, offersTools: isObject(body.capabilities) && body.capabilities.tools !== undefined };
}

function refused(error: unknown): Reason {
  const said = isObject(error) && typeof error.message === 'string' ? error.message.slice(0, 1000) : 'no reason given';
  return {
    code: 'handshake_refused',
    message: `It refused the MCP handshake: ${said}.`,
    repair: 'Check that its version speaks MCP 2025-11-25 or older, and that its settings are complete.',
  };
}

function unknownRevision(revision: string): Reason {
  return {
    code: 'revision_unknown',
    message: `It answered the handshake with the MCP revision "${revision}"; supported are ${knownRevisions.join(', ')}.`,
    repair: 'Use a version of it that speaks one of these.',
  };
}
