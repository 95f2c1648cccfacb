import { callHeader, callReplyKinds } from '../../contracts/bus/call.ts';
import type { UsageRecord } from '../../contracts/bus/messages.ts';
import { isObject } from '../../contracts/is-object.ts';
import { withBugReported } from '../../kit/report-bug.ts';
import type { Skill, Tool } from '../catalogue/catalogue.ts';
import { checkScope } from '../tools/check-scope.ts';
import { explainInactiveTool, explainRefused, explainUnavailable } from '../tools/explain.ts';
import { failed, formatToolText } from '../tools/tool-text.ts';
import { resolveTool } from '../tools/view.ts';
import { Attempts } from './attempts.ts';
import { awaitStart } from './await-start.ts';
import type { Call, CallAnswer, CallParts, CallView } from './call.ts';
import { silenceMaxOf } from './call-deadlines.ts';
import { CallInterrupted, NotConnected } from './call-failure.ts';
import { paramsOfCall } from './call-params.ts';
import { isToolError } from './is-tool-error.ts';
import { passNotification } from './pass-notification.ts';

interface ToolCall {
  readonly name: string;
  /** JSON texts of the members of `params`. */
  readonly members: ReadonlyMap<string, string>;
  readonly view: CallView;
}

/**
 * Calls the tool of an MCP server. Waits while the MCP server starts. Retries a call that no runtime accepted, or that was interrupted and is
 * safe to repeat.
 */
export async function callMcpServer(
  parts: CallParts,
  call: Call,
  { name, members, view: first }: ToolCall,
): Promise<CallAnswer> {
  const attempts = new Attempts();
  let view = first;
  for (;;) {
    let waitedMs = 0;
    let found = resolveTool(view, name);
    // Before anything is sent: the refusal is a status of HTTP. No wider scope opens what a role refuses.
    if (found.kind !== 'unknown' && found.kind !== 'inactive' && found.kind !== 'refused')
      checkScope(view.principal, found.tool);
    if (found.kind === 'starting') {
      const waitsSince = performance.now();
      const silenceLeftMs = attempts.silenceLeftMs(silenceMaxOf(found.tool.mcpServer, parts.silenceMaxMs));
      view = await awaitStart(parts, call, { view, name, silenceLeftMs });
      waitedMs = performance.now() - waitsSince;
      found = resolveTool(view, name);
    }
    switch (found.kind) {
      case 'unknown':
        return unknownTool(name);
      case 'inactive':
        return refused(explainInactiveTool(view, found.tool, found.skill));
      case 'refused':
        return refused(explainRefused(view, found.tool, found.skill));
      case 'starting':
      case 'unavailable':
        count(parts, call, { ...found, view, outcome: 'error', startedAt: performance.now() - waitedMs });
        // The failure of an earlier attempt says more than the lack of a further attempt.
        if (attempts.failure !== null) return { kind: 'failed', error: attempts.failure };
        return { kind: 'result', json: formatToolText(failed(explainUnavailable(found.tool, found.skill, waitedMs))) };
    }
    try {
      return await send(parts, call, { ...found, members, view, attempts });
    } catch (thrown) {
      view = { ...view, catalogue: parts.catalogues.peek(view.catalogue.workspace) ?? view.catalogue };
      if (isRepeatable(thrown, found.tool) && attempts.again(thrown) && isExpected(view, name)) continue;
      const error = withBugReported(thrown, parts.log('calls'));
      count(parts, call, { ...found, view, outcome: 'error', startedAt: attempts.startedAt });
      if (error.code === 'cancelled') throw error;
      return { kind: 'failed', error };
    }
  }
}

interface FoundCall {
  readonly tool: Tool;
  /** Null for an operator. */
  readonly skill: Skill | null;
  readonly view: CallView;
}

interface SentCall extends FoundCall {
  readonly members: ReadonlyMap<string, string>;
  readonly attempts: Attempts;
}

async function send(
  parts: CallParts,
  call: Call,
  { tool, skill, members, view, attempts }: SentCall,
): Promise<CallAnswer> {
  const given = progressTokenOf(call.params);
  const progressToken = given === null ? null : parts.router.newProgressToken();
  const silenceMaxMs = silenceMaxOf(tool.mcpServer, parts.silenceMaxMs);
  attempts.sending();
  const { headers, payload } = await parts.router.send({
    ...{ tool, progressToken, session: call.session, principal: view.principal },
    ...{ request: call.request, signal: call.signal, silenceMaxMs, silenceMs: attempts.silenceLeftMs(silenceMaxMs) },
    method: 'tools/call',
    params: paramsOfCall(members, { nameText: tool.originalNameText, progressToken }),
    onInterim: (interim) => {
      attempts.heard();
      if (interim !== null) passNotification(interim, call, { ours: progressToken, given, attempts });
    },
  });
  const isError = headers[callHeader.kind] === callReplyKinds.error;
  const outcome = isError ? 'error' : isToolError(payload) ? 'tool_error' : 'ok';
  count(parts, call, { tool, skill, view, outcome, startedAt: attempts.startedAt });
  return { kind: isError ? 'error_of_mcp_server' : 'result', json: payload };
}

/** Not counted as a call: an agent without the right could fill the usage of the tool. */
function refused(why: string): CallAnswer {
  return { kind: 'result', json: formatToolText(failed(why)) };
}

function unknownTool(name: string): CallAnswer {
  return {
    kind: 'unknown_tool',
    message: `Unknown tool: ${JSON.stringify(name.slice(0, 200))}`,
    hint: 'list_skills lists the skills, and load_skill the tools of a skill.',
  };
}

function isRepeatable(thrown: unknown, tool: Tool): thrown is NotConnected | CallInterrupted {
  return thrown instanceof NotConnected || (thrown instanceof CallInterrupted && tool.isRepeatable);
}

/** Whether the tool can be called now, or when its MCP server has started. */
function isExpected(view: CallView, name: string): boolean {
  const { kind } = resolveTool(view, name);
  return kind === 'callable' || kind === 'starting';
}

function progressTokenOf({ _meta: meta }: Call['params']): string | number | null {
  const token = isObject(meta) ? meta.progressToken : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : null;
}

interface CountedCall extends FoundCall {
  readonly outcome: NonNullable<UsageRecord['call']>['outcome'];
  readonly startedAt: number;
}

function count(
  { usage, log }: Pick<CallParts, 'usage' | 'log'>,
  { request, session }: Call,
  { tool, skill, view, outcome, startedAt }: CountedCall,
): void {
  const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000;
  usage.called(view.principal, {
    mcpServer: tool.mcpServer.id,
    tool: tool.id,
    skill: skill?.id ?? null,
    outcome,
    durationMs,
  });
  const logger = log('calls');
  if (!logger.isLevelEnabled('debug')) return;
  logger.debug(
    { request, session: session.id, mcpServer: tool.mcpServer.id, tool: tool.name, outcome, durationMs },
    'answered a call',
  );
}
