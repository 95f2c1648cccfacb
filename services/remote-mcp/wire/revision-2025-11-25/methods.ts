import { SvcError } from '../../../contracts/errors.ts';
import { findLogLevel, logLevels } from '../../sessions/protocol.ts';
import { fingerprint } from '../../tools/list-changes.ts';
import { listTools } from '../../tools/list-tools.ts';
import type { WireParts } from '../wire-parts.ts';
import { callTool } from './call-tool.ts';
import { initialize } from './initialize.ts';
import type { AgentRequest, SessionRequest } from './session-request.ts';

/** Whether a method needs a session. `later` methods are not supported yet, and their capability is not offered. */
export type RequestMethod =
  | { readonly kind: 'open'; handle(platform: WireParts, request: AgentRequest): void | Promise<void> }
  | { readonly kind: 'in_session'; handle(platform: WireParts, request: SessionRequest): void | Promise<void> }
  | { readonly kind: 'later' };

const later: RequestMethod = { kind: 'later' };

/** Every request that a client may make in the revisions up to 2025-11-25 (schema, "ClientRequest"). */
export const requestMethods: ReadonlyMap<string, RequestMethod> = new Map<string, RequestMethod>([
  ['initialize', { kind: 'open', handle: initialize }],
  ['ping', { kind: 'open', handle: (_platform, { answer }) => answer.result('{}') }],
  ['tools/list', { kind: 'in_session', handle: toolsList }],
  ['tools/call', { kind: 'in_session', handle: callTool }],
  ['logging/setLevel', { kind: 'in_session', handle: setLevel }],
  ['prompts/list', later],
  ['prompts/get', later],
  ['resources/list', later],
  ['resources/templates/list', later],
  ['resources/read', later],
  ['resources/subscribe', later],
  ['resources/unsubscribe', later],
  ['completion/complete', later],
  ['tasks/get', later],
  ['tasks/result', later],
  ['tasks/list', later],
  ['tasks/cancel', later],
]);

/** Every notification that a client may send (schema, "ClientNotification"), and whether it has an effect here. */
export const notificationMethods: ReadonlyMap<string, 'cancels' | 'no_effect'> = new Map([
  ['notifications/cancelled', 'cancels'],
  // A session is open from its first answer, so nothing waits for this notification.
  ['notifications/initialized', 'no_effect'],
  // It belongs to requests to the client, and remote-mcp sends none.
  ['notifications/progress', 'no_effect'],
  ['notifications/roots/list_changed', 'no_effect'],
  ['notifications/tasks/status', 'no_effect'],
]);

async function toolsList({ catalogues }: WireParts, { principal, session, message, answer }: SessionRequest) {
  const { cursor } = message.params;
  const view = { catalogue: await catalogues.of(principal.workspace), principal, session };
  answer.result(listTools(view, cursor));
  if (cursor === undefined) session.listed = fingerprint(view);
}

async function setLevel({ sessions }: WireParts, { session, message, answer }: SessionRequest) {
  const level = findLogLevel(message.params.level);
  if (level === null) throw new SvcError('invalid_input', `"level" must be one of ${logLevels.join(', ')}.`);
  await sessions.change(session, (present) => ({ ...present, logLevel: level }));
  answer.result('{}');
}
