import { isUtf8 } from 'node:buffer';
import { callHeader, callReplyKinds, notificationMaxBytes } from '../../contracts/bus/call.ts';
import { countValues } from '../../contracts/bus/count-values.ts';
import type { SvcError } from '../../contracts/errors.ts';
import { isObject } from '../../contracts/is-object.ts';
import type { Reply } from '../../kit/bus/bus.ts';
import { errorFromBus, receivedError } from '../../kit/bus/error-on-bus.ts';
import { isJson, jsonDepthMax, scanJson, tooDeep } from '../../kit/scan-json.ts';

/** A runtime may run on a customer's machine, so its replies are checked here before they reach an agent. */
export type CheckedReply =
  | { readonly kind: 'answer'; readonly reply: Reply }
  /** The runtime did not pass the call to the MCP server. */
  | { readonly kind: 'refused'; readonly refusal: SvcError }
  | { readonly kind: 'unusable'; readonly why: string };

/** A JSON-RPC notification that belongs to a call. */
export interface Notification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export function checkReply(reply: Reply): CheckedReply {
  const kind = reply.headers[callHeader.kind];
  switch (kind) {
    case callReplyKinds.result:
      return whyNotJson(reply.payload) ?? { kind: 'answer', reply };
    case callReplyKinds.error:
      return whyNotJson(reply.payload) ?? checkError(reply);
    case callReplyKinds.refused:
      return whyNotJson(reply.payload) ?? readRefusal(reply);
    default:
      return unusable('is of an unknown kind');
  }
}

function whyNotJson(payload: Uint8Array): CheckedReply | null {
  if (isUtf8(payload) && isJson(payload)) return null;
  const isDeep = scanJson(payload) === tooDeep;
  return unusable(isDeep ? `is nested more than ${jsonDepthMax} levels deep` : 'is not valid JSON');
}

/** JSON-RPC 2.0, section 5.1. */
function checkError(reply: Reply): CheckedReply {
  const { code, message } = membersOf(reply.payload);
  const isError = Number.isInteger(code) && typeof message === 'string';
  return isError ? { kind: 'answer', reply } : unusable('is not a JSON-RPC error');
}

function readRefusal({ payload }: Reply): CheckedReply {
  const refusal = receivedError.safeParse(membersOf(payload));
  return refusal.success ? { kind: 'refused', refusal: errorFromBus(refusal.data) } : unusable('is not a refusal');
}

function unusable(why: string): CheckedReply {
  return { kind: 'unusable', why };
}

/** Parsing this many values takes 2 ms. A notification has ten. */
const notificationValuesMax = 10_000;

/** Null if the interim reply is not a notification. */
export function notificationIn({ headers, payload }: Reply): Notification | null {
  if (headers[callHeader.kind] !== callReplyKinds.notification || payload.length > notificationMaxBytes) return null;
  if (countValues(payload, notificationValuesMax) > notificationValuesMax) return null;
  if (!isUtf8(payload) || !isJson(payload)) return null;
  const { jsonrpc, id, method, params } = membersOf(payload);
  // The notification is written anew for the agent, so a missing version is harmless.
  if (
    (jsonrpc !== undefined && jsonrpc !== '2.0') ||
    id !== undefined ||
    typeof method !== 'string' ||
    !isObject(params)
  )
    return null;
  return { method, params };
}

function membersOf(payload: Uint8Array): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString());
  return isObject(parsed) ? parsed : {};
}
