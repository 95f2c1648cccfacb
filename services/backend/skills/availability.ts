import type { Reason } from '../../contracts/bus/messages.ts';
import { toolsOfSkillMax } from '../../contracts/workspace-limits.ts';
import type { Node } from '../graph/graph.ts';
import type { ServerState } from '../servers/status.ts';

/** An MCP server that a skill uses, and its state. */
export interface NeededServer {
  readonly server: Node<'mcpServer'>;
  readonly state: ServerState;
}

/**
 * Why a skill's tools cannot be used, or null when they can: every MCP server that it refers to is Connected
 * (specification, part 3, rule 1).
 */
export function whyUnavailable(needed: readonly NeededServer[]): Reason | null {
  const missing = needed.find(({ state }) => state.status !== 'Connected');
  return missing === undefined ? null : notConnected(missing);
}

/**
 * The tool of a skill that its MCP server does not offer, or null when it offers all of them. The other tools can be
 * used.
 */
export function whyIncomplete(needed: readonly NeededServer[], tools: readonly Node<'tool'>[]): Reason | null {
  const unlisted = tools.find((tool) => !tool.listed);
  if (unlisted === undefined) return null;
  const server = needed.find(({ server: { id } }) => id === unlisted.mcpServer)?.server.name ?? unlisted.mcpServer;
  return {
    code: 'missing_tool',
    message: `The MCP server "${server}" does not offer the tool "${unlisted.originalName}" now.`,
    repair: `List its tools: svc server show ${server}. Remove the tool from the skill: svc skill update NAME --remove-tool ${server}/${unlisted.originalName}`,
  };
}

/** Why tools that match the skill's patterns are left out, or null when none is. */
export function whyLeftOut(leftOut: number): Reason | null {
  if (leftOut === 0) return null;
  return {
    code: 'too_many_tools',
    message: `The patterns of the skill match ${leftOut} more tools than the ${toolsOfSkillMax} that a skill may have. They are left out.`,
    repair: 'Narrow its patterns: svc skill update NAME --remove-tool PATTERN --add-tool PATTERN',
  };
}

function notConnected({ server, state }: NeededServer): Reason {
  return {
    code: 'mcp_server_not_connected',
    message: `The MCP server "${server.name}" is ${state.status}. ${state.reason?.message ?? ''}`.trim(),
    repair: state.reason?.repair ?? `Show the reason: svc server show ${server.name}`,
  };
}
