import { isUtf8 } from 'node:buffer';
import { isObject } from '../../../contracts/is-object.ts';
import type { Held } from '../../../kit/budget.ts';
import { depthMax, locateMembers, type Member, valueBytes, valuesMax } from '../../../kit/json-members.ts';
import type { RequestId } from '../../sessions/call-under-way.ts';
import { jsonRpcCodes } from './error-to-json-rpc.ts';

export type Params = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RequestId;
  /** The id's own JSON text, which the answer repeats unchanged. */
  readonly idText: string;
  readonly method: string;
  readonly params: Params;
  /** JSON text of `params`; empty if there are none. */
  readonly paramsText: string;
}

export type RpcMessage =
  | RpcRequest
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  /** An answer to a request of remote-mcp, which sends none in this revision. */
  | { readonly kind: 'response' };

/** A body that is not a message. Answered with HTTP 400 (2025-11-25, "Sending Messages to the Server"). */
export interface Invalid {
  readonly kind: 'invalid';
  readonly code: number;
  readonly message: string;
  readonly hint?: string;
  readonly idText: string;
}

/** Reads the body of a POST: one JSON-RPC message. Counts the memory for parsing first, and refuses a costly body before it parses it. */
export function readMessage(body: Buffer, held: Held): RpcMessage | Invalid {
  if (!isUtf8(body)) return invalid(jsonRpcCodes.parse, 'The body is not UTF-8.');
  const text = body.toString('utf8');
  const located = locateMembers(text);
  switch (located) {
    case 'too_deep':
      return invalid(jsonRpcCodes.request, `The body is nested more than ${depthMax} levels deep.`);
    case 'too_many':
      return invalid(jsonRpcCodes.request, `The body holds more than ${valuesMax} values.`, {
        hint: 'Send large data as one text, or in several calls.',
      });
    case 'malformed':
      return readNoObject(text);
  }
  held.resize(held.amount + located.values * valueBytes);
  const parsed = parse(text);
  return isObject(parsed) ? classify(parsed, text, located.members) : notJson();
}

function readNoObject(text: string): Invalid {
  const start = text.trimStart()[0];
  if (start === '[') {
    return invalid(jsonRpcCodes.request, 'The body is a JSON-RPC batch, which is not supported.', {
      hint: 'Send each message as a request of its own.',
    });
  }
  if (start === '{' || parse(text) === undefined) return notJson();
  return invalid(jsonRpcCodes.request, 'The body is not a JSON-RPC message: it must be an object.');
}

function notJson(): Invalid {
  return invalid(jsonRpcCodes.parse, 'The body is not valid JSON.');
}

function classify(message: Params, text: string, members: readonly Member[]): RpcMessage | Invalid {
  const { jsonrpc, id, method, params } = message;
  const given = valueText(text, members, 'id');
  const idText = isRequestId(id) && given.length <= idTextMax ? given : 'null';
  if (jsonrpc !== '2.0') return invalid(jsonRpcCodes.request, '"jsonrpc" must be "2.0".', { idText });
  if (method === undefined && ('result' in message || 'error' in message)) return { kind: 'response' };
  if (typeof method !== 'string') return invalid(jsonRpcCodes.request, '"method" must be a text.', { idText });
  if (params !== undefined && !isObject(params)) {
    return invalid(jsonRpcCodes.request, '"params" must be an object.', { idText });
  }
  if (id === undefined) return { kind: 'notification', method, params: params ?? {} };
  if (!isRequestId(id) || idText === 'null') {
    return invalid(jsonRpcCodes.request, `"id" must be a whole number or a text of at most ${idTextMax} characters.`);
  }
  const paramsText = params === undefined ? '' : valueText(text, members, 'params');
  return { kind: 'request', id, idText, method, params: params ?? {}, paramsText };
}

/** An id is kept until its request is answered, and then sent back. */
const idTextMax = 512;

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id));
}

/** Of equal names the last one counts, as in `JSON.parse`. */
function valueText(text: string, members: readonly Member[], name: string): string {
  for (let i = members.length - 1; i >= 0; i--) {
    const member = members[i];
    if (member !== undefined && member.name === name) return text.slice(member.start, member.end);
  }
  return '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalid(code: number, message: string, more: { hint?: string; idText?: string } = {}): Invalid {
  return { kind: 'invalid', code, message, idText: 'null', ...more };
}
