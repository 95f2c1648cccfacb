import { constantTools, isConstantTool } from '../../contracts/constant-tools.ts';
import { isObject } from '../../contracts/is-object.ts';
import { memberTexts } from '../../kit/json-members.ts';
import { failed, formatToolText } from '../tools/tool-text.ts';
import type { Call, CallAnswer, CallParts } from './call.ts';
import { callMcpServer } from './call-mcp-server.ts';
import { membersOfInnerCall } from './call-params.ts';
import { callConstantTool } from './constant-tool.ts';

const noMembers: ReadonlyMap<string, string> = new Map();

/**
 * Answers a call with a constant tool, or with the tool of an MCP server. Throws if the key is refused while the call
 * waits, or if the call is cancelled.
 */
export async function answerCall(parts: CallParts, call: Call): Promise<CallAnswer> {
  const { name, params, paramsText, principal, session, signal } = call;
  const loading = parts.catalogues.of(principal.workspace);
  const catalogue = loading instanceof Promise ? await loading : loading;
  signal.throwIfAborted();
  const view = { catalogue, principal, session };
  const args = isObject(params.arguments) ? params.arguments : {};
  if (isConstantTool(name) && name !== constantTools.callTool) {
    return { kind: 'result', json: formatToolText(await callConstantTool(parts, view, { name, args, signal })) };
  }
  const members = memberTexts(paramsText) ?? noMembers;
  if (!isConstantTool(name)) return await callMcpServer(parts, call, { name, members, view });
  const inner = args.name;
  if (typeof inner !== 'string' || isConstantTool(inner)) return textAnswer(innerNameMissing);
  const answer = await callMcpServer(parts, call, { name: inner, members: membersOfInnerCall(members), view });
  // The model chose this name. Models read results, and clients may hide errors from them.
  return answer.kind === 'unknown_tool' ? textAnswer(`${answer.message}. ${answer.hint}`) : answer;
}

const innerNameMissing = 'Give the name of a tool of a skill: {"name": "…", "arguments": {…}}.';

function textAnswer(text: string): CallAnswer {
  return { kind: 'result', json: formatToolText(failed(text)) };
}
