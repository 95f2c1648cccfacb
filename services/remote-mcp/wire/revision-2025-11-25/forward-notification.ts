import type { Attempts } from '../../routing/attempts.ts';
import type { Notification } from '../../routing/check-reply.ts';
import { findLogLevel, logLevels } from './protocol.ts';
import type { SessionRequest } from './session-request.ts';

/** The progress token as the MCP server was given it, and as the agent gave it. */
export interface ProgressTokens {
  readonly ours: string | null;
  readonly given: string | number | null;
  readonly attempts: Attempts;
}

/** Passes on what an MCP server says while a call is under way: progress under the agent's own token, and log messages it wants. */
export function forwardNotification(
  { method, params }: Notification,
  request: SessionRequest,
  tokens: ProgressTokens,
): void {
  if (method === 'notifications/progress' && tokens.ours !== null && params.progressToken === tokens.ours) {
    if (tokens.attempts.isNews(params.progress)) tell(request, method, { ...params, progressToken: tokens.given });
  } else if (method === 'notifications/message' && isWanted(params.level, request)) tell(request, method, params);
}

function tell({ answer }: SessionRequest, method: string, params: Notification['params']): void {
  answer.notify(JSON.stringify({ jsonrpc: '2.0', method, params }));
}

/** At least as severe as the agent asked for with `logging/setLevel`. */
function isWanted(level: unknown, { session }: SessionRequest): boolean {
  const given = findLogLevel(level);
  return given !== null && logLevels.indexOf(given) >= logLevels.indexOf(session.logLevel);
}
