import type { Principal } from '../../contracts/bus/messages.ts';
import type { SvcError } from '../../contracts/errors.ts';
import type { CancelSignal } from '../../kit/cancellation.ts';
import type { Log } from '../../kit/log.ts';
import type { Principals } from '../auth/principals.ts';
import type { CatalogueWaits } from '../catalogue/catalogue-waits.ts';
import type { Catalogues } from '../catalogue/catalogues.ts';
import type { Notification } from '../routing/check-reply.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { ReadFile } from '../tools/read-file.ts';
import type { View } from '../tools/view.ts';
import type { UsageLog } from '../usage/usage-log.ts';
import type { CallRouter } from './call-router.ts';

/** A tool call of an agent. Every revision of MCP reads its own messages into this form. */
export interface Call {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** JSON text of `params`, as the agent wrote it. */
  readonly paramsText: string;
  readonly principal: Principal;
  readonly session: Session;
  /** The agent's Authorization header. */
  readonly authorization: string | undefined;
  /** Id of the HTTP request in every log. */
  readonly request: string;
  /** Its reason is a SvcError. */
  readonly signal: CancelSignal;
  /** Passes on a notification that arrives before the answer. */
  readonly onNotification: (notification: Notification) => void;
}

/** The answer to a call. JSON of an MCP server is passed on unchanged. */
export type CallAnswer =
  | { readonly kind: 'result'; readonly json: string | Uint8Array }
  | { readonly kind: 'error_of_mcp_server'; readonly json: Uint8Array }
  | { readonly kind: 'unknown_tool'; readonly message: string; readonly hint: string }
  | { readonly kind: 'failed'; readonly error: SvcError };

/** The parts of remote-mcp that calls use. */
export interface CallParts {
  readonly catalogues: Pick<Catalogues, 'of' | 'peek'>;
  readonly waits: Pick<CatalogueWaits, 'until'>;
  readonly principals: Pick<Principals, 'authenticate'>;
  readonly sessions: Pick<Sessions, 'change'>;
  readonly router: Pick<CallRouter, 'send' | 'newProgressToken'>;
  readonly usage: Pick<UsageLog, 'called'>;
  readonly readFile: ReadFile;
  /** How long a call may be silent, for MCP servers without their own deadline. */
  readonly silenceMaxMs: number;
  readonly log: Log;
}

export interface CallView extends View {
  readonly session: Session;
}
