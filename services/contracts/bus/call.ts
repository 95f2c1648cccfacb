import type { KeyId, McpServerId } from '../ids.ts';

/**
 * A request to an MCP server: remote-mcp → runtime on `svc.runtime.<runtime>.<process>.call`. The payload is the JSON
 * text of `params` exactly as the MCP server receives it. Everything else is in headers, so that the runtime passes the
 * payload on without parsing.
 */
export interface CallHeaders {
  readonly server: McpServerId;
  /** JSON-RPC method, `tools/call` above all. */
  readonly method: string;
  readonly session: string;
  readonly key: KeyId;
  /** Id that follows the request through every log. */
  readonly request: string;
  /** `_meta.progressToken` in the payload, when the agent asked for progress; unique per remote-mcp. */
  readonly progress?: string;
}

/** Kinds of replies and interim messages to a call. Each payload is JSON text of the named part. */
export const callReplyKinds = {
  /** Final: `result` of the JSON-RPC response. */
  result: 'result',
  /** Final: `error` of the JSON-RPC response, as the MCP server gave it. */
  error: 'error',
  /**
   * Final: the MCP server did not receive the call, so another process may try it. `code`, `message` and `hint` of the
   * reason, as JSON.
   */
  refused: 'refused',
  /** Interim: a whole JSON-RPC notification that belongs to this call (progress, message). */
  notification: 'notification',
} as const;
export type CallReplyKind = keyof typeof callReplyKinds;

/** A notification informs a person who waits. A larger one is dropped. */
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
