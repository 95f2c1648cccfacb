import type { KeyId, McpServerId } from '../ids.ts';

/**
 * A request to an MCP server: remote-mcp → runtime on `svc.runtime.<runtime>.<process>.call`.
 * The payload is the JSON text of `params` exactly as the MCP server shall see it; all else is in headers,
 * so that the runtime never parses what it only passes on.
 */
export interface CallHeaders {
  readonly server: McpServerId;
  /** JSON-RPC method, `tools/call` above all. */
  readonly method: string;
  readonly session: string;
  readonly key: KeyId;
  /** Id that follows the request through every log. */
  readonly request: string;
  /** `_meta.progressToken` in the payload, where the agent asked for progress; unique per remote-mcp. */
  readonly progress?: string;
}

/** What a reply or an interim message to a call is. Its payload is JSON text of the part named. */
export const callReplyKinds = {
  /** Final: `result` of the JSON-RPC response. */
  result: 'result',
  /** Final: `error` of the JSON-RPC response, as the MCP server gave it. */
  error: 'error',
  /** Final: the MCP server was not given the call, so another process may be. `code`, `message` and `hint` of the reason, as JSON. */
  refused: 'refused',
  /** Interim: a whole JSON-RPC notification that belongs to this call (progress, message). */
  notification: 'notification',
} as const;
export type CallReplyKind = keyof typeof callReplyKinds;

/** A notification is news for a person who waits. What is larger is left out. */
export const notificationMaxBytes = 256 * 1024;

/** Names of the headers on the bus. */
export const callHeader = {
  server: 'svc-server',
  method: 'svc-method',
  session: 'svc-session',
  key: 'svc-key',
  request: 'svc-request',
  progress: 'svc-progress',
  kind: 'svc-kind',
} as const;
