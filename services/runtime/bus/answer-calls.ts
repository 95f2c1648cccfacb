import { type CallReplyKind, callHeader, notificationMaxBytes } from '../../contracts/bus/call.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId } from '../../contracts/ids.ts';
import type { Headers, Reply, Request, Subscription } from '../../kit/bus/bus.ts';
import { errorOnBus } from '../../kit/bus/error-on-bus.ts';
import type { Logger } from '../../kit/log.ts';
import { Quiet } from '../../kit/quiet.ts';
import { CallRefused } from '../supervisor/call-refused.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import type { RuntimeConnection } from './connect.ts';

export interface AnswerCallsOptions {
  readonly connection: RuntimeConnection;
  readonly supervisor: Supervisor;
  readonly logger: Logger;
}

/** Concurrent calls of all MCP servers together; each MCP server has its own limit. */
const concurrencyMax = 4096;
/** Undelivered notifications of one call. Further ones are dropped for a slow agent: old progress has no value. */
const notificationsMax = 64;

const headersOf: { readonly [Kind in CallReplyKind]: Headers } = {
  result: { [callHeader.kind]: 'result' },
  error: { [callHeader.kind]: 'error' },
  refused: { [callHeader.kind]: 'refused' },
  notification: { [callHeader.kind]: 'notification' },
};

export interface AnsweringCalls extends Subscription {
  /** Resolves when no more calls arrive. A later caller finds no listener and goes to another process. */
  quiet(): Promise<void>;
}

/** Passes calls from remote-mcp to MCP servers, and their answers back, without parsing. */
export function answerCalls({ connection, supervisor, logger }: AnswerCallsOptions): AnsweringCalls {
  const { bus, runtime, process } = connection;
  const calls = new Quiet();
  const answer = async (request: Request): Promise<Reply> => {
    calls.asked();
    const { headers, payload, signal } = request;
    const mcpServer = findId('mcpServer', headers[callHeader.server] ?? '');
    if (mcpServer === null)
      throw new SvcError('invalid_input', `A call must name its MCP server in ${callHeader.server}.`);
    const call = {
      method: headers[callHeader.method] ?? '',
      params: payload,
      progress: headers[callHeader.progress] ?? null,
      signal,
      notify: notifier(request),
    };
    try {
      const { kind, payload: text } = await supervisor.call(mcpServer, call);
      return { payload: text, headers: headersOf[kind] };
    } catch (thrown) {
      if (!(thrown instanceof CallRefused)) throw thrown;
      return { payload: Buffer.from(JSON.stringify(errorOnBus(thrown, logger))), headers: headersOf.refused };
    }
  };
  const answering = bus.respond(subjects.call(runtime, process), logged(answer, logger), { concurrencyMax });
  return { quiet: () => calls.wait(), stop: () => answering.stop() };
}

function notifier(request: Request): (notification: Uint8Array) => void {
  let underWay = 0;
  return (notification) => {
    if (underWay >= notificationsMax || notification.length > notificationMaxBytes) return;
    underWay++;
    const done = () => underWay--;
    request.interim(notification, headersOf.notification).then(done, done);
  };
}

/** Logs one line a call at level debug; otherwise adds no work to a call. */
function logged(answer: (request: Request) => Promise<Reply>, logger: Logger): (request: Request) => Promise<Reply> {
  if (!logger.isLevelEnabled('debug')) return answer;
  return async (request) => {
    const before = performance.now();
    const { headers } = request;
    const call = {
      request: headers[callHeader.request],
      mcpServer: headers[callHeader.server],
      method: headers[callHeader.method],
      key: headers[callHeader.key],
    };
    const ms = () => Math.round(10 * (performance.now() - before)) / 10;
    try {
      const reply = await answer(request);
      logger.debug({ ...call, ms: ms(), bytes: reply.payload.length }, 'answered');
      return reply;
    } catch (err) {
      logger.debug({ ...call, ms: ms(), err }, 'failed');
      throw err;
    }
  };
}
