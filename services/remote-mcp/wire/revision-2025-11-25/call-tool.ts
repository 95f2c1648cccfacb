import { SvcError } from '../../../contracts/errors.ts';
import { isObject } from '../../../contracts/is-object.ts';
import { answerCall } from '../../calls/answer-call.ts';
import type { CallAnswer } from '../../calls/call.ts';
import { CallUnderWay } from '../../sessions/call-under-way.ts';
import type { WireParts } from '../wire-parts.ts';
import { jsonRpcCodes, type RpcError } from './error-to-json-rpc.ts';
import type { RpcAnswer } from './rpc-answer.ts';
import type { SessionRequest } from './session-request.ts';

/** Calls of one session at once. */
const callsMax = 256;

/** `tools/call` (2025-11-25, "Tools"). */
export async function callTool(platform: WireParts, request: SessionRequest): Promise<void> {
  const { message, answer, principal, session, exchange } = request;
  const { params, paramsText } = message;
  const { name, arguments: args } = params;
  if (typeof name !== 'string') throw new SvcError('invalid_input', '"name" must be the name of a tool.');
  if (args !== undefined && !isObject(args)) throw new SvcError('invalid_input', '"arguments" must be an object.');
  const underWay = begin(request);
  if (underWay === null) return answer.error(duplicateId(message.idText));
  const { signal, authorization } = underWay;
  const { disclosure } = session;
  try {
    const answered = await answerCall(platform, {
      ...{ name, params, paramsText, principal, session, signal, authorization, request: exchange.id },
      onNotification: (notification) => void answer.notify(JSON.stringify({ jsonrpc: '2.0', ...notification })),
    });
    write(answer, answered);
  } catch (thrown) {
    // A call fails in many ways once it has been ended. The reason for its end says why.
    const why: unknown = signal.aborted && thrown instanceof SvcError ? signal.reason : thrown;
    if (!(why instanceof SvcError && why.code === 'cancelled')) throw why;
    answer.none(why);
  } finally {
    end(request, underWay);
  }
  if (session.disclosure !== disclosure) platform.listChanges.ofSession(session.id);
}

function write(answer: RpcAnswer, answered: CallAnswer): void {
  switch (answered.kind) {
    case 'result':
      answer.result(answered.json);
      break;
    case 'error_of_mcp_server':
      answer.foreignError(answered.json);
      break;
    case 'unknown_tool': {
      const { message, hint } = answered;
      answer.error({ code: jsonRpcCodes.params, message, data: { code: 'not_found', hint } });
      break;
    }
    case 'failed':
      answer.fail(answered.error);
      break;
  }
}

/**
 * Remembers the request by the agent's id; null where another of that id is under way, because nobody could tell which of them a cancellation
 * means (2025-11-25, "Overview", "Requests": ids must not be used twice in a session).
 */
function begin({ session, message, exchange }: SessionRequest): CallUnderWay | null {
  session.calls ??= new Map();
  if (session.calls.has(message.id)) return null;
  if (session.calls.size >= callsMax) {
    throw new SvcError('rate_limited', `This session has ${callsMax} calls under way, which is the limit.`, {
      hint: 'Wait until some have ended.',
    });
  }
  const call = new CallUnderWay(exchange.request.headers.authorization);
  session.calls.set(message.id, call);
  return call;
}

function end({ session, message }: SessionRequest, call: CallUnderWay): void {
  call.answered();
  session.calls?.delete(message.id);
  if (session.calls?.size === 0) session.calls = null;
}

function duplicateId(idText: string): RpcError {
  return {
    code: jsonRpcCodes.request,
    message: `The id ${idText} is that of another request under way in this session.`,
  };
}
