import { SvcError } from '../../../contracts/errors.ts';
import { isObject } from '../../../contracts/is-object.ts';
import { answerCall } from '../../calls/answer-call.ts';
import type { CallAnswer } from '../../calls/call.ts';
import type { WireParts } from '../wire-parts.ts';
import { jsonRpcCodes, type RpcError } from './error-to-json-rpc.ts';
import type { RpcAnswer } from './rpc-answer.ts';
import type { SessionRequest } from './session-request.ts';

/** `tools/call` (2025-11-25, "Tools"). */
export async function callTool(
  platform: WireParts,
  { message, answer, principal, session, exchange }: SessionRequest,
): Promise<void> {
  const { params, paramsText } = message;
  const { name, arguments: args } = params;
  if (typeof name !== 'string') throw new SvcError('invalid_input', '"name" must be the name of a tool.');
  if (args !== undefined && !isObject(args)) throw new SvcError('invalid_input', '"arguments" must be an object.');
  const underWay = session.beginCall(message.id, exchange.request.headers.authorization);
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
    // Once a call is ended, it fails with any error. The signal's reason is the cause.
    const why: unknown = signal.aborted && thrown instanceof SvcError ? signal.reason : thrown;
    if (!(why instanceof SvcError && why.code === 'cancelled')) throw why;
    answer.none(why);
  } finally {
    session.endCall(underWay);
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

/** Ids must not be used twice in a session (2025-11-25, "Overview", "Requests"). */
function duplicateId(idText: string): RpcError {
  return {
    code: jsonRpcCodes.request,
    message: `The id ${idText} is that of another request under way in this session.`,
  };
}
