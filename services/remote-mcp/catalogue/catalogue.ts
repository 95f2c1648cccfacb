import type { Health, Reason, ServerStatus } from '../../contracts/bus/messages.ts';
import type { FileId, McpServerId, RoleId, SkillId, ToolId, WorkspaceId } from '../../contracts/ids.ts';
import type { RuntimeProcess } from '../routing/runtime-process.ts';
import type { RoleRules } from './role-rules.ts';

/** The skills, roles and tools of a workspace at one version. Immutable. */
export interface Catalogue {
  readonly workspace: WorkspaceId;
  readonly name: string;
  readonly suspended: boolean;
  readonly version: number;
  readonly statusVersion: number;
  readonly mcpServers: readonly McpServer[];
  /** Skills, roles and tools are in the order of their names. */
  readonly skills: readonly Skill[];
  readonly roles: readonly Role[];
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly skillsById: ReadonlyMap<SkillId, Skill>;
  readonly rolesById: ReadonlyMap<RoleId, Role>;
}

export interface McpServer {
  readonly id: McpServerId;
  readonly name: string;
  readonly status: ServerStatus;
  readonly health: Health;
  readonly reason: Reason | null;
  readonly nextRetryAt: number | null;
  /** Names of the bound runtimes. If there are none, the platform's own runtimes run it. */
  readonly runtimes: readonly string[];
  /** The processes in which it is Connected. */
  readonly processes: readonly RuntimeProcess[];
  /** In seconds; null: the platform's setting. */
  readonly callTimeout: number | null;
}

export interface Tool {
  readonly id: ToolId;
  /** The name under which agents call it. */
  readonly name: string;
  /** JSON text of the name that its MCP server knows it by. */
  readonly originalNameText: string;
  readonly mcpServer: McpServer;
  /** Its number among the tools of the catalogue. */
  readonly position: number;
  readonly skills: readonly Skill[];
  /** JSON text of the tool as agents see it; null if its MCP server describes it wrongly. */
  readonly definition: string | null;
  /** An interrupted call may be sent again. */
  readonly isRepeatable: boolean;
  /** Its MCP server declares that it changes nothing. */
  readonly isReadOnly: boolean;
  /** Equal for equal definitions: 48 bits. */
  readonly hash: number;
}

export interface Skill {
  readonly id: SkillId;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Tools of the skill that its MCP servers don't offer now, as MCPSERVER/TOOL. */
  readonly missingTools: readonly string[];
  /** How many tools match its patterns beyond the limit of a skill. */
  readonly leftOut: number;
  readonly mcpServers: readonly McpServer[];
  readonly roles: readonly Role[];
  /** In the order of their paths. */
  readonly files: readonly SkillFile[];
}

export interface SkillFile {
  readonly id: FileId;
  readonly path: string;
  readonly sizeBytes: number;
}

export interface Role {
  readonly id: RoleId;
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly skills: readonly Skill[];
  /** Null: it lets every tool pass. */
  readonly rules: RoleRules | null;
}
