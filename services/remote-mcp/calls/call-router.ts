import { callHeader } from '../../contracts/bus/call.ts';
import type { Principal } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { randomText } from '../../contracts/ids.ts';
import { BoundedLog } from '../../kit/bounded-log.ts';
import { AnswererGone, NobodyAnswers, type Reply } from '../../kit/bus/bus.ts';
import type { CancelSignal } from '../../kit/cancellation.ts';
import type { Logger } from '../../kit/log.ts';
import type { BusLink } from '../bus/bus-link.ts';
import type { Tool } from '../catalogue/catalogue.ts';
import { checkReply, type Notification, notificationIn } from '../routing/check-reply.ts';
import { boundsOfCall, InterimBudget } from '../routing/interim-budget.ts';
import { leastBusy, type RuntimeProcess } from '../routing/runtime-process.ts';
import type { Session } from '../sessions/session.ts';
import { callMaxMs } from './call-deadlines.ts';
import { isOfBus, NotConnected, unusableAnswer, worded } from './call-failure.ts';

export interface RoutedCall {
  readonly tool: Tool;
  readonly method: string;
  /** JSON text of `params` for the MCP server. */
  readonly params: string;
  readonly session: Session;
  readonly principal: Principal;
  /** Id that follows the request through every log. */
  readonly request: string;
  /** Replaces the agent's progress token in `params`. */
  readonly progressToken: string | null;
  /** How long a call to the MCP server may be silent. */
  readonly silenceMaxMs: number;
  /** What earlier attempts have left of it. */
  readonly silenceMs: number;
  readonly signal: CancelSignal;
  /** Called for each interim reply; null if it is not a notification that may be passed on. */
  readonly onInterim: (notification: Notification | null) => void;
}

const tooFast = 'is one of more interim replies than are passed on';
const none: ReadonlySet<RuntimeProcess> = new Set();

/**
 * Sends a call to a runtime process in which the tool's MCP server is Connected. Of several, the process with the
 * fewest calls in progress comes first.
 */
export class CallRouter {
  readonly #link: BusLink;
  readonly #tokenPrefix = randomText(12);
  readonly #refusals: BoundedLog;
  #tokens = 0;

  constructor(link: BusLink, logger: Logger) {
    this.#link = link;
    this.#refusals = new BoundedLog(logger);
  }

  /** Unique among all remote-mcps, because two agents may choose the same token. */
  newProgressToken(): string {
    return `${this.#tokenPrefix}-${(this.#tokens++).toString(36)}`;
  }

  /**
   * The final reply of the process that accepted the call. Throws errors of the bus and the runtime in words that name
   * the MCP server. After `NotConnected` and `CallInterrupted` the caller may retry the call.
   */
  async send(call: RoutedCall): Promise<Reply> {
    const { processes } = call.tool.mcpServer;
    let tried = none;
    let refusal: unknown = null;
    for (;;) {
      const process = leastBusy(processes, tried);
      if (process === null) throw refusal ?? new NotConnected(call.tool);
      try {
        const checked = checkReply(await this.#ask(process, call));
        if (checked.kind === 'answer') return checked.reply;
        if (checked.kind === 'unusable') throw this.#unusable(process, call, checked.why);
        refusal = checked.refusal;
      } catch (thrown) {
        // The process ended before it accepted this call, or during it.
        if (thrown instanceof NobodyAnswers || thrown instanceof AnswererGone) process.gone();
        if (isOverloaded(thrown)) refusal = worded(thrown, call);
        else if (!(thrown instanceof NobodyAnswers)) throw worded(thrown, call);
      }
      // No process accepted the call, so another one may carry it out.
      tried = new Set([...tried, process]);
    }
  }

  async #ask(process: RuntimeProcess, call: RoutedCall): Promise<Reply> {
    const { bus } = this.#link.present ?? (await this.#link.connected());
    const interims = new InterimBudget(boundsOfCall, performance.now());
    process.inFlight++;
    try {
      return await bus.request(process.callSubject, Buffer.from(call.params), {
        headers: headersOf(call),
        timeoutMs: call.silenceMs,
        timeoutMaxMs: callMaxMs,
        signal: call.signal,
        onInterim: (reply) => {
          const now = performance.now();
          const { byteLength } = reply.payload;
          const isWithin = interims.spend(now, byteLength) && process.interims.spend(now, byteLength);
          const notification = isWithin ? notificationIn(reply) : null;
          if (notification === null) this.#complain(process, call, isWithin ? 'is no notification' : tooFast);
          call.onInterim(notification);
        },
      });
    } finally {
      process.inFlight--;
    }
  }

  #unusable(process: RuntimeProcess, call: RoutedCall, why: string): SvcError {
    this.#complain(process, call, why);
    return unusableAnswer(call.tool, why);
  }

  #complain(answerer: RuntimeProcess, { tool, request, principal }: RoutedCall, why: string): void {
    const { runtime, process } = answerer;
    const { workspace } = principal;
    const mcpServer = tool.mcpServer.id;
    const fields = { runtime, process, mcpServer, request, why };
    this.#refusals.write(
      { sender: `${workspace} ${runtime}`, workspace },
      fields,
      'the answer of a runtime was not usable',
    );
  }
}

function headersOf({ tool, method, session, principal, request, progressToken }: RoutedCall): Record<string, string> {
  const headers: Record<string, string> = {
    [callHeader.server]: tool.mcpServer.id,
    [callHeader.method]: method,
    [callHeader.session]: session.id,
    [callHeader.key]: principal.key,
    [callHeader.request]: request,
  };
  if (progressToken !== null) headers[callHeader.progress] = progressToken;
  return headers;
}

/** The process has as many requests in progress as it accepts, and refused this one. */
function isOverloaded(thrown: unknown): boolean {
  return thrown instanceof SvcError && thrown.code === 'rate_limited' && isOfBus(thrown);
}
