import { setTimeout as pause } from 'node:timers/promises';
import { type CallReplyKind, callHeader } from '../../contracts/bus/call.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId } from '../../contracts/ids.ts';
import type { Headers, Reply, Request, Subscription } from '../../kit/bus/bus.ts';
import { errorOnBus } from '../../kit/bus/error-on-bus.ts';
import type { Logger } from '../../kit/log.ts';
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

/** When nobody has called for this long, all who call know that they should not. */
const quietMs = 100;
/** Who calls all the same finds nobody, and goes elsewhere. */
const quietWithinMs = 5000;

export interface AnsweringCalls extends Subscription {
  /** Resolves when no call has come for a while. */
  quiet(): Promise<void>;
}

/** Passes the calls that remote-mcp sends on to MCP servers, and their answers back: bytes in, bytes out. */
export function answerCalls({ connection, supervisor, logger }: AnswerCallsOptions): AnsweringCalls {
  const { bus, runtime, process } = connection;
  let calledAt = 0;
  const answer = async (request: Request): Promise<Reply> => {
    calledAt = performance.now();
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
  return {
    async quiet() {
      const deadline = performance.now() + quietWithinMs;
      const leftMs = () => Math.min(calledAt + quietMs, deadline) - performance.now();
      for (let waitMs = quietMs; waitMs > 0; waitMs = leftMs()) await pause(waitMs);
    },
    stop: () => answering.stop(),
  };
}

function notifier(request: Request): (notification: Uint8Array) => void {
  let underWay = 0;
  return (notification) => {
    if (underWay >= notificationsMax) return;
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
