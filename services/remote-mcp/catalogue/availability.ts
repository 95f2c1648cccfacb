import { startingCode } from '../../contracts/reason-codes.ts';
import { toolsOfSkillMax } from '../../contracts/workspace-limits.ts';
import type { McpServer, Skill } from './catalogue.ts';

/** A missing part of a skill, in words for the agent: the part, the reason and the repair. */
export interface Lack {
  readonly what: string;
  readonly repair: string;
}

/** Connected in a process that is alive. */
export function isConnected(mcpServer: McpServer): boolean {
  if (mcpServer.status !== 'Connected') return false;
  for (const process of mcpServer.processes) if (process.isThere) return true;
  return false;
}

/** Starting for the first time or with a new configuration. An MCP server that failed before does not count. */
function isStarting({ status, reason }: McpServer): boolean {
  return status === 'Disconnected' && reason?.code === startingCode;
}

/**
 * Connected only in processes that ended, at least one of them just now. The MCP server may already be starting
 * elsewhere.
 */
function isMoving({ status, processes }: McpServer): boolean {
  if (status !== 'Connected') return false;
  for (const process of processes) if (process.hasJustLeft) return true;
  return false;
}

/** Available now or soon: its tools are known, so they are listed, and calls wait. */
export function isExpected(skill: Pick<Skill, 'mcpServers'>): boolean {
  for (const mcpServer of skill.mcpServers) {
    if (!isConnected(mcpServer) && !isStarting(mcpServer) && !isMoving(mcpServer)) return false;
  }
  return true;
}

/** A skill's tools are available only while every MCP server it references is Connected (part 3 of the specification, rule 1). */
export function isAvailable(skill: Pick<Skill, 'mcpServers'>): boolean {
  for (const mcpServer of skill.mcpServers) if (!isConnected(mcpServer)) return false;
  return true;
}

/** Why a skill is not available: one lack for each MCP server that is not Connected. */
export function lacksOf(skill: Pick<Skill, 'mcpServers'>, now = Date.now()): readonly Lack[] {
  return skill.mcpServers.flatMap((mcpServer) => (isConnected(mcpServer) ? [] : [lackOf(mcpServer, now)]));
}

/** Tools that an available skill names but that do not exist, or that it has no room for. Its other tools can be called. */
export function missingToolsOf(skill: Skill): readonly Lack[] {
  const missing = skill.missingTools.map((tool) => ({
    what: `The tool "${tool}" is not offered by its MCP server.`,
    repair: `Remove it from the skill (svc skill update ${skill.name} --remove-tool ${tool}), or correct the MCP server: svc server show NAME.`,
  }));
  if (skill.leftOut === 0) return missing;
  const what = `${skill.leftOut} tools that match the patterns of the skill are left out, because a skill has at most ${toolsOfSkillMax} tools.`;
  return [
    ...missing,
    { what, repair: `Narrow its patterns: svc skill update ${skill.name} --remove-tool PATTERN --add-tool PATTERN.` },
  ];
}

function lackOf(mcpServer: McpServer, now: number): Lack {
  const { name, status, reason, nextRetryAt } = mcpServer;
  if (status === 'Connected') {
    return {
      what: `MCP server "${name}" is Disconnected: its runtime${namesOf(mcpServer)} has stopped answering.`,
      repair: 'Start the runtime again: svc runtime list tells which one is missing.',
    };
  }
  const why = reason === null ? 'no runtime has it running' : reason.message.replace(/[.\s]+$/, '');
  const seconds = nextRetryAt === null ? 0 : Math.ceil((nextRetryAt - now) / 1000);
  const retry = seconds > 0 ? ` The next attempt is in ${seconds} s.` : '';
  return {
    what: `MCP server "${name}" is ${status}: ${why}.${retry}`,
    repair: reason?.repair ?? `See Workspace settings > MCP Servers, or: svc server show ${name}.`,
  };
}

/** The name of the bound runtime, for a message; without names if it has several. */
export function namesOf({ runtimes }: McpServer): string {
  return runtimes.length === 1 ? ` "${runtimes[0]}"` : '';
}
