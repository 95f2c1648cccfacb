import {
  type Explanation as Explained,
  type Gap as ExplainedGap,
  explainKey as explain,
  type GapChange,
  type SituatedKey,
} from '../../services/contracts/explain-key.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import type { Key } from '../objects/keys.ts';
import { ruledTool } from '../objects/role-limits.ts';
import type { Role } from '../objects/roles.ts';
import type { McpServer } from '../objects/servers.ts';
import type { Skill } from '../objects/skills.ts';
import type { WorkspaceTool } from '../objects/tool-list-size.ts';

/** All that decides what an agent with a key can use. */
export interface KeySituation {
  readonly workspace: { readonly name: string; readonly suspended: boolean };
  readonly key: Key;
  readonly roles: readonly Role[];
  readonly skills: readonly Skill[];
  readonly tools: readonly WorkspaceTool[];
  readonly mcpServers: readonly Pick<McpServer, 'name' | 'enabled' | 'status' | 'reason'>[];
}

/** A part of the workspace that an agent with the key cannot use. */
export interface Gap extends Omit<ExplainedGap, 'change'> {
  /** The command that changes it. */
  readonly change: string;
}

export interface Explanation extends Omit<Explained, 'unusable'> {
  readonly unusable: readonly Gap[];
}

/** What an agent with the key can use, and for everything else in the workspace why not, with the commands. */
export function explainKey({ tools, mcpServers, ...situation }: KeySituation): Explanation {
  const { unusable, ...explained } = explain({
    ...situation,
    tools: tools.map((tool) => ({ ...tool, isReadOnly: ruledTool(tool).isReadOnly })),
    mcpServers: mcpServers.map((server) => ({ ...server, id: server.name })),
  });
  const gaps = unusable.map(({ change, ...gap }) => ({ ...gap, change: commandFor(change, situation.key) }));
  return { ...explained, unusable: gaps };
}

function commandFor(change: GapChange, key: SituatedKey): string {
  const ownName = shellWord(key.name);
  switch (change.kind) {
    case 'createKey':
      return 'Create another key: svc keys create NAME';
    case 'extendKey':
      return `Give it a later expiry: svc keys update ${ownName} --expires 30d`;
    case 'giveRoles':
      return `Give it roles: svc keys update ${ownName} --role ROLE`;
    case 'endSuspension':
      return 'An operator can end the suspension.';
    case 'giveRole': {
      const names = [...(key.roles ?? []), change.role].map(({ name }) => `--role ${shellWord(name)}`);
      return `Give the role ${change.role.name} to the key: svc keys update ${ownName} ${names.join(' ')}`;
    }
    case 'enableRole':
      return `Enable the role ${change.role.name}: svc role update ${shellWord(change.role.name)} --enable`;
    case 'fillRole':
      return `Put a skill into it: ${addSkill(change.role.name, 'SKILL')}`;
    case 'useSkill':
      return `Put it into a role: ${addSkill('ROLE', change.skill.name)}`;
    case 'repairSkill':
      return change.repair;
    case 'useTool':
      return `Put it into a skill: svc skill update SKILL --add-tool ${shellWord(change.tool)}`;
    case 'liftRule':
      return `Change the rules of the role ${change.role.name}: svc role update ${shellWord(change.role.name)} ${flagThatLifts(change)}`;
    case 'enableServer':
      return `Enable it: svc server enable ${shellWord(change.mcpServer.name)}`;
    case 'repairServer':
      return change.repair ?? `Show its last output: svc server show ${shellWord(change.mcpServer.name)}`;
  }
}

function addSkill(role: string, skill: string): string {
  return `svc role update ${shellWord(role)} --add-skill ${shellWord(skill)}`;
}

/** The flag of svc role update that lets a tool pass. */
function flagThatLifts({ refusal, tool }: Extract<GapChange, { kind: 'liftRule' }>): string {
  switch (refusal?.kind) {
    case 'deny':
      return `--remove-deny ${shellWord(`${refusal.rule.mcpServer}/${refusal.rule.pattern}`)}`;
    case 'read_only':
      return '--no-read-only';
    default:
      return `--add-allow ${shellWord(tool)}`;
  }
}
