import type { Notification } from '../routing/check-reply.ts';
import { findLogLevel, logLevels } from '../sessions/protocol.ts';
import type { Session } from '../sessions/session.ts';
import type { Attempts } from './attempts.ts';
import type { Call } from './call.ts';

/** The progress token sent to the MCP server, and the one that the agent sent. */
export interface ProgressTokens {
  readonly ours: string | null;
  readonly given: string | number | null;
  readonly attempts: Attempts;
}

/** Passes on progress under the agent's own token, and log messages from the level that the agent set. */
export function passNotification({ method, params }: Notification, call: Call, tokens: ProgressTokens): void {
  if (method === 'notifications/progress' && tokens.ours !== null && params.progressToken === tokens.ours) {
    if (!tokens.attempts.isNews(params.progress)) return;
    call.onNotification({ method, params: { ...params, progressToken: tokens.given } });
  } else if (method === 'notifications/message' && isWanted(params.level, call.session)) {
    call.onNotification({ method, params });
  }
}

/** Whether the level is at least as severe as the one that the agent set with `logging/setLevel`. */
function isWanted(level: unknown, { logLevel }: Session): boolean {
  const given = findLogLevel(level);
  return given !== null && logLevels.indexOf(given) >= logLevels.indexOf(logLevel);
}
