import { callHeader, callReplyKinds } from '../../../contracts/bus/call.ts';
import { constantTools, isConstantTool } from '../../../contracts/constant-tools.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { isObject } from '../../../contracts/is-object.ts';
import type { Reply } from '../../../kit/bus/bus.ts';
import { memberTexts } from '../../../kit/json-members.ts';
import { withBugReported } from '../../../kit/report-bug.ts';
import type { Skill, Tool } from '../../catalogue/catalogue.ts';
import type { RemoteMcp } from '../../context.ts';
import { Attempts } from '../../routing/attempts.ts';
import { CallInterrupted, NobodyHasIt } from '../../routing/call-failure.ts';
import { CallUnderWay } from '../../sessions/call-under-way.ts';
import type { Session } from '../../sessions/session.ts';
import { explainInactive, explainUnavailable } from '../../tools/explain.ts';
import { failed, formatToolText } from '../../tools/tool-text.ts';
import { resolveTool, type View } from '../../tools/view.ts';
import { awaitStart } from './await-start.ts';
import { membersOfInnerCall, paramsOfCall } from './call-params.ts';
import { callConstantTool } from './constant-tool.ts';
import { jsonRpcCodes, type RpcError } from './error-to-json-rpc.ts';
import { forwardNotification } from './forward-notification.ts';
import { isToolError } from './is-tool-error.ts';
import type { Params } from './message.ts';
import type { SessionRequest } from './session-request.ts';

/** What one session may have under way at once. */
const callsMax = 256;

/** `tools/call` (2025-11-25, "Tools"): a tool of our own, or one of an MCP server. */
export async function callTool(platform: RemoteMcp, request: SessionRequest): Promise<void> {
  const { message, answer, principal, session } = request;
  const { name, arguments: args } = message.params;
  if (typeof name !== 'string') throw new SvcError('invalid_input', '"name" must be the name of a tool.');
  if (args !== undefined && !isObject(args)) throw new SvcError('invalid_input', '"arguments" must be an object.');
  const call = begin(request);
  if (call === null) return answer.error(duplicateId(message.idText));
  const { signal } = call;
  try {
    const loading = platform.catalogues.of(principal.workspace);
    const catalogue = loading instanceof Promise ? await loading : loading;
    signal.throwIfAborted();
    await carryOut(platform, request, { view: { catalogue, principal, session }, name, args, signal });
  } catch (thrown) {
    // Whoever ended the call knows why better than whatever failed because of it.
    const why: unknown = signal.aborted && thrown instanceof SvcError ? signal.reason : thrown;
    if (!(why instanceof SvcError && why.code === 'cancelled')) throw why;
    answer.none(why);
  } finally {
    end(request, call);
  }
}

interface ToolCall {
  readonly view: View & { readonly session: Session };
  readonly name: string;
  readonly args: Params | undefined;
  readonly signal: AbortSignal;
}

function carryOut(platform: RemoteMcp, request: SessionRequest, call: ToolCall): Promise<void> | void {
  const { view, name, args, signal } = call;
  const isConstant = isConstantTool(name);
  if (isConstant && name !== constantTools.callTool) {
    return callConstantTool(platform, request, { view, name, args: args ?? {}, signal });
  }
  const members = memberTexts(request.message.paramsText) ?? new Map<string, string>();
  const named = { view, signal, attempts: null, waitedMs: null };
  if (!isConstant) return callByName(platform, request, { ...named, name, members, isInner: false });
  const inner = args?.name;
  if (typeof inner !== 'string' || isConstantTool(inner)) {
    const words = 'Give the name of a tool of a skill: {"name": "…", "arguments": {…}}.';
    return request.answer.result(formatToolText(failed(words)));
  }
  return callByName(platform, request, { ...named, name: inner, members: membersOfInnerCall(members), isInner: true });
}

interface NamedCall {
  readonly view: View & { readonly session: Session };
  readonly name: string;
  /** JSON texts of the members of `params`. */
  readonly members: ReadonlyMap<string, string>;
  /** Made through call_tool, so that a wrong name is something for the model to mend. */
  readonly isInner: boolean;
  readonly signal: AbortSignal;
  /** Null where it was not sent yet. */
  readonly attempts: Attempts | null;
  /** How long it has waited for what was being started; null where it has not. */
  readonly waitedMs: number | null;
}

function callByName(platform: RemoteMcp, request: SessionRequest, call: NamedCall): Promise<void> | void {
  const { view, name, isInner, waitedMs } = call;
  const found = resolveTool(view, name);
  switch (found.kind) {
    case 'callable':
      return forward(platform, request, { ...call, tool: found.tool, skill: found.skill });
    case 'starting':
      if (waitedMs === null) return callWhenStarted(platform, request, call);
      return answerUnavailable(platform, request, { call, found });
    case 'unavailable':
      return answerUnavailable(platform, request, { call, found });
    case 'inactive':
      return request.answer.result(formatToolText(failed(explainInactive(view, found.skill))));
    case 'unknown': {
      const text = `Unknown tool: ${JSON.stringify(name.slice(0, 200))}`;
      const hint = 'list_skills shows what there is, and load_skill the tools of a skill.';
      if (isInner) return request.answer.result(formatToolText(failed(`${text}. ${hint}`)));
      return request.answer.error({ code: jsonRpcCodes.params, message: text, data: { code: 'not_found', hint } });
    }
  }
}

/** Why it was not answered before is worth more than what kept it from being sent again. */
function answerUnavailable(
  platform: RemoteMcp,
  request: SessionRequest,
  { call, found }: { readonly call: NamedCall; readonly found: Pick<ForwardedCall, 'tool' | 'skill'> },
): void {
  const { name, waitedMs, attempts } = call;
  count(platform, request, found, { outcome: 'error', startedAt: performance.now() - (waitedMs ?? 0) });
  const failure = attempts?.failure ?? null;
  if (failure !== null) request.answer.fail(failure);
  else request.answer.result(formatToolText(failed(explainUnavailable(name, found.skill, waitedMs ?? undefined))));
}

async function callWhenStarted(platform: RemoteMcp, request: SessionRequest, call: NamedCall): Promise<void> {
  const startedAt = performance.now();
  const now = await awaitStart(platform, request, call);
  const waitedMs = performance.now() - startedAt;
  await callByName(
    platform,
    { ...request, principal: now.principal },
    { ...call, view: { ...call.view, ...now }, waitedMs },
  );
}

/** Nobody took it, or nobody knows whether it was carried out and it may be twice: it is sent once more where its MCP server is or is about to be. */
async function callAgain(platform: RemoteMcp, request: SessionRequest, call: NamedCall): Promise<boolean> {
  const catalogue = platform.catalogues.peek(call.view.catalogue.workspace) ?? call.view.catalogue;
  const view = { ...call.view, catalogue };
  const { kind } = resolveTool(view, call.name);
  if (kind !== 'callable' && kind !== 'starting') return false;
  await callByName(platform, request, { ...call, view, waitedMs: null });
  return true;
}

interface ForwardedCall extends NamedCall {
  readonly tool: Tool;
  readonly skill: Skill;
}

async function forward(platform: RemoteMcp, request: SessionRequest, call: ForwardedCall): Promise<void> {
  const { message, answer, principal, session, exchange } = request;
  const { tool, members, signal } = call;
  const attempts = call.attempts ?? new Attempts();
  const given = progressTokenOf(message.params);
  const progressToken = given === null ? null : platform.calls.newProgressToken();
  const { startedAt } = attempts;
  try {
    const reply = await platform.calls.send({
      ...{ tool, session, principal, progressToken, attempts, signal },
      method: 'tools/call',
      params: paramsOfCall(members, { nameText: tool.originalNameText, progressToken }),
      request: exchange.id,
      onInterim: (interim) => {
        attempts.heard();
        if (interim !== null) forwardNotification(interim, request, { ours: progressToken, given, attempts });
      },
    });
    count(platform, request, call, { outcome: pass(reply, request), startedAt });
  } catch (thrown) {
    const again = isRepeatable(thrown, tool) && attempts.again(thrown) ? { ...call, attempts } : null;
    if (again !== null && (await callAgain(platform, request, again))) return;
    const error = withBugReported(thrown, platform.log('calls'));
    count(platform, request, call, { outcome: 'error', startedAt });
    if (error.code === 'cancelled') throw error;
    answer.fail(error);
  }
}

function isRepeatable(thrown: unknown, tool: Tool): thrown is SvcError {
  return thrown instanceof NobodyHasIt || (thrown instanceof CallInterrupted && tool.isRepeatable);
}

type Outcome = 'ok' | 'tool_error' | 'error';

function pass({ headers, payload }: Reply, { answer }: SessionRequest): Outcome {
  if (headers[callHeader.kind] === callReplyKinds.error) {
    answer.foreignError(payload);
    return 'error';
  }
  answer.result(payload);
  return isToolError(payload) ? 'tool_error' : 'ok';
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

function progressTokenOf({ _meta: meta }: SessionRequest['message']['params']): string | number | null {
  const token = isObject(meta) ? meta.progressToken : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : null;
}

function count(
  { usage, log }: Pick<RemoteMcp, 'usage' | 'log'>,
  { principal, exchange, session }: SessionRequest,
  { tool, skill }: Pick<ForwardedCall, 'tool' | 'skill'>,
  { outcome, startedAt }: { readonly outcome: Outcome; readonly startedAt: number },
): void {
  const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000;
  usage.called(principal, { mcpServer: tool.mcpServer.id, tool: tool.id, skill: skill.id, outcome, durationMs });
  const logger = log('calls');
  if (!logger.isLevelEnabled('debug')) return;
  logger.debug(
    { request: exchange.id, session: session.id, mcpServer: tool.mcpServer.id, tool: tool.name, outcome, durationMs },
    'answered a call',
  );
}
