import type { ErrorCode, SvcError } from '../../../contracts/errors.ts';
import { withoutKeys } from '../../../contracts/keys.ts';

/** JSON-RPC 2.0, section 5.1. */
export const jsonRpcCodes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
} as const;

/**
 * Each error code as a number of JSON-RPC. A code without an equivalent there has a number outside the reserved range (-32768 to -32000; MCP
 * 2026-07-28, "Error Codes"), made from the matching HTTP status.
 */
const rpcCodes: Readonly<Record<ErrorCode, number>> = {
  invalid_input: jsonRpcCodes.params,
  unauthenticated: -31401,
  forbidden: -31403,
  not_found: -31404,
  conflict: -31409,
  too_large: -31413,
  rate_limited: -31429,
  timeout: -31504,
  unavailable: -31503,
  unsupported: jsonRpcCodes.method,
  cancelled: -31499,
  internal: jsonRpcCodes.internal,
};

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Expects an error whose text may be shown: bugs pass `withBugReported` first. */
export function errorToJsonRpc({ code, message, hint }: SvcError): RpcError {
  return { code: rpcCodes[code], message, data: hint === undefined ? { code } : { code, hint } };
}

/** The text of an error response; `idText` is `null` if the id could not be read. */
export function errorResponse(idText: string, error: RpcError): string {
  const shown = { ...error, message: withoutKeys(error.message) };
  return `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(shown)}}`;
}
