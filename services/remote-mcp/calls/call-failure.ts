import { SvcError } from '../../contracts/errors.ts';
import { howToRaise } from '../../contracts/mcp-server-deadlines.ts';
import { AnswererGone } from '../../kit/bus/bus.ts';
import { namesOf } from '../catalogue/availability.ts';
import type { McpServer, Tool } from '../catalogue/catalogue.ts';

/** No runtime process accepted the call. */
export class NotConnected extends SvcError {
  constructor({ mcpServer }: Tool) {
    super('unavailable', `No runtime has MCP server "${mcpServer.name}" Connected now.`, {
      hint: 'Try again shortly.',
    });
  }
}

/** The process that accepted the call has ended or is unreachable. The call may or may not have been carried out. */
export class CallInterrupted extends SvcError {
  constructor({ isRepeatable }: Tool, what: string, cause: SvcError) {
    super('unavailable', `${what}: the call may have been carried out or not.`, {
      hint: isRepeatable
        ? 'Send it again: the tool says that doing it twice does no harm.'
        : 'Send it again only if doing it twice does no harm: the tool is marked neither read-only nor idempotent.',
      cause,
    });
  }
}

/** The runtime's answer cannot be passed on. The call may or may not have been carried out. */
export function unusableAnswer({ name, mcpServer }: Tool, why: string): SvcError {
  return new SvcError(
    'unavailable',
    `MCP server "${mcpServer.name}" gave an unusable answer to "${name}": it ${why}.`,
    { hint: 'Correct the MCP server, or update its runtime.' },
  );
}

interface WordedCall {
  readonly tool: Tool;
  readonly silenceMaxMs: number;
}

/** Rewords an error of the bus, which speaks of subjects, for an agent. Errors of a runtime stay as they are. */
export function worded(thrown: unknown, { tool, silenceMaxMs }: WordedCall): unknown {
  if (!(thrown instanceof SvcError) || !isOfBus(thrown)) return thrown;
  const { name, mcpServer } = tool;
  const runtime = `The runtime${namesOf(mcpServer)} of MCP server "${mcpServer.name}"`;
  switch (thrown.code) {
    case 'timeout':
      return new SvcError(
        'timeout',
        `MCP server "${mcpServer.name}" did not answer "${name}" within ${silenceMaxMs / 1000} s (${settingOf(mcpServer)}).`,
        {
          hint: `Progress notifications keep a call alive, for 30 minutes at most. ${howToRaise('callTimeout', { mcpServer: mcpServer.name, isMs: silenceMaxMs })}`,
          cause: thrown,
        },
      );
    case 'unavailable':
      return new CallInterrupted(
        tool,
        thrown instanceof AnswererGone
          ? `${runtime} ended before "${name}" was answered`
          : `The connection to the bus was lost before MCP server "${mcpServer.name}" answered "${name}"`,
        thrown,
      );
    case 'rate_limited':
      return new SvcError('rate_limited', `${runtime} has too many calls under way.`, {
        hint: 'Try again shortly.',
        cause: thrown,
      });
    default:
      return thrown;
  }
}

function settingOf({ name, callTimeout }: McpServer): string {
  return callTimeout === null ? 'runtime.callTimeout in svc.yaml' : `callTimeout of the MCP server "${name}"`;
}

/** Whether the bus, and not a runtime, raised the error: only the bus names subjects. */
export function isOfBus({ message }: SvcError): boolean {
  return message.includes('svc.runtime.');
}
