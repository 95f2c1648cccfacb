import { callHeader } from '../../contracts/bus/call.ts';
import type { Principal } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { NobodyAnswers, type Reply } from '../../kit/bus/bus.ts';
import type { BusLink } from '../bus/bus-link.ts';
import { namesOf } from '../catalogue/availability.ts';
import type { Tool } from '../catalogue/catalogue.ts';
import type { Session } from '../sessions/session.ts';
import { leastBusy, type RuntimeProcess } from './runtime-process.ts';

/** Architecture §11: a call may be silent for this long, and last at most so long in all. */
const silenceMaxMs = 60_000;
const callMaxMs = 30 * 60_000;

export interface RoutedCall {
  readonly tool: Tool;
  readonly method: string;
  /** JSON text of `params` for the MCP server. */
  readonly params: string;
  readonly session: Session;
  readonly principal: Principal;
  /** Id that follows the request through every log. */
  readonly request: string;
  /** Stands in `params` for the agent's progress token. */
  readonly progressToken: string | null;
  readonly signal: AbortSignal;
  readonly onInterim: (reply: Reply) => void;
}

/** Brings calls to a runtime process in which the tool's MCP server is Connected: of several, the one with fewest under way. */
export class CallRouter {
  readonly #link: BusLink;
  #tokens = 0;

  constructor(link: BusLink) {
    this.#link = link;
  }

  /** Unique among all remote-mcps: two agents may well have chosen the same. */
  newProgressToken(): string {
    return `${this.#link.process}-${(this.#tokens++).toString(36)}`;
  }

  /** The final reply. Throws what the bus or the runtime say, in words that name the MCP server. */
  async send(call: RoutedCall): Promise<Reply> {
    for (;;) {
      const process = leastBusy(call.tool.mcpServer.processes);
      if (process === null) throw nobodyHasIt(call.tool);
      try {
        return await this.#ask(process, call);
      } catch (thrown) {
        if (!(thrown instanceof NobodyAnswers)) throw worded(thrown, call.tool);
        // It has gone without a word; the call reached nobody, so another process may have it.
        process.gone();
      }
    }
  }

  async #ask(process: RuntimeProcess, call: RoutedCall): Promise<Reply> {
    const { bus } = this.#link.connected();
    process.inFlight++;
    try {
      return await bus.request(process.callSubject, Buffer.from(call.params), {
        headers: headersOf(call),
        timeoutMs: silenceMaxMs,
        timeoutMaxMs: callMaxMs,
        signal: call.signal,
        onInterim: call.onInterim,
      });
    } finally {
      process.inFlight--;
    }
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

/** What the bus says of subjects means nothing to an agent; what a runtime says is for it. */
function worded(thrown: unknown, { name, mcpServer }: Tool): unknown {
  if (!(thrown instanceof SvcError) || !thrown.message.includes('svc.runtime.')) return thrown;
  switch (thrown.code) {
    case 'timeout':
      return new SvcError('timeout', `MCP server "${mcpServer.name}" did not answer "${name}" within its deadline.`, {
        hint: `A call may be silent for ${silenceMaxMs / 1000} s. Progress notifications keep it alive.`,
        cause: thrown,
      });
    case 'unavailable':
      return new SvcError(
        'unavailable',
        `The runtime${namesOf(mcpServer)} of MCP server "${mcpServer.name}" has stopped answering.`,
        {
          hint: 'Try again: another runtime may have it, and a stopped one is usually started again.',
          cause: thrown,
        },
      );
    case 'rate_limited':
      return new SvcError(
        'rate_limited',
        `The runtime of MCP server "${mcpServer.name}" has too many calls under way.`,
        {
          hint: 'Try again shortly.',
          cause: thrown,
        },
      );
    default:
      return thrown;
  }
}

function nobodyHasIt({ mcpServer }: Tool): SvcError {
  return new SvcError('unavailable', `No runtime has MCP server "${mcpServer.name}" Connected now.`, {
    hint: 'Try again shortly.',
  });
}
