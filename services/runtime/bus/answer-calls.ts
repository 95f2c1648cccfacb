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

/** Calls of all MCP servers together; each has a bound of its own. */
const concurrencyMax = 4096;
/** Notifications of one call that are on their way. A slow agent is spared the rest: progress is only news while it is new. */
const notificationsMax = 64;

const headersOf: { readonly [Kind in CallReplyKind]: Headers } = {
  result: { [callHeader.kind]: 'result' },
  error: { [callHeader.kind]: 'error' },
  refused: { [callHeader.kind]: 'refused' },
  notification: { [callHeader.kind]: 'notification' },
};

export interface AnsweringCalls extends Subscription {
  /** Resolves when no call comes any more. Who calls after that finds nobody, and goes elsewhere. */
  quiet(): Promise<void>;
}

/** Passes the calls that remote-mcp sends on to MCP servers, and their answers back: bytes in, bytes out. */
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

/** One line a call, where somebody wants to follow them; otherwise nothing stands in the way. */
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
