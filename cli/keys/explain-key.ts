import type { KeyDisclosure } from '../../services/contracts/key-disclosure.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { describeRefusal, type RuleRefusal, refusalOf } from '../../services/contracts/tool-rules.ts';
import type { Key } from '../objects/keys.ts';
import { limitsOf, ruledTool } from '../objects/role-limits.ts';
import type { Role } from '../objects/roles.ts';
import type { McpServer } from '../objects/servers.ts';
import type { Skill } from '../objects/skills.ts';
import type { WorkspaceTool } from '../objects/tool-list-size.ts';
import { isoOrNull } from '../output/times-and-sizes.ts';

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
export interface Gap {
  readonly kind: 'key' | 'workspace' | 'role' | 'skill' | 'tool' | 'mcpServer';
  readonly name: string;
  readonly why: string;
  /** What changes it. */
  readonly change: string;
}

export interface Explanation {
  readonly workspace: string;
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly hint: string;
    readonly state: Key['state'];
    readonly expiresAt: string | null;
    readonly disclosure: KeyDisclosure;
  };
  /** Whether the platform accepts the key now. */
  readonly accepted: boolean;
  readonly roles: readonly ExplainedRole[];
  readonly unusable: readonly Gap[];
}

export interface ExplainedRole {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly skills: readonly ExplainedSkill[];
}

export interface ExplainedSkill {
  readonly id: string;
  readonly name: string;
  readonly available: boolean;
  readonly reason: Skill['reason'];
  /** Their names for agents. */
  readonly tools: readonly string[];
}

/** What an agent with the key can use, and for everything else in the workspace why not. */
export function explainKey(situation: KeySituation): Explanation {
  const { workspace, key, roles, skills, tools } = situation;
  const nameOfTool = new Map(tools.map(({ id, name, originalName }) => [id, name ?? originalName]));
  const toolById = new Map(tools.map((tool) => [tool.id, tool]));
  const skillById = new Map(skills.map((skill) => [skill.id, skill]));
  const explained = roles
    .filter((role) => isOfKey(key, role))
    .map((role) => ({
      ...{ id: role.id, name: role.name, enabled: role.enabled },
      skills: role.skills.flatMap((one) => {
        const skill = skillById.get(one.id);
        if (skill === undefined) return [];
        const names = skill.tools
          .filter((tool) => refusalBy(role, toolById.get(tool.id)) === null)
          .map((tool) => nameOfTool.get(tool.id) ?? tool.id)
          .sort();
        return [{ id: one.id, name: one.name, available: skill.available, reason: skill.reason, tools: names }];
      }),
    }));
  return {
    workspace: workspace.name,
    key: {
      ...{ id: key.id, name: key.name, hint: key.hint, state: key.state },
      ...{ expiresAt: isoOrNull(key.expiresAt), disclosure: key.disclosure },
    },
    accepted: key.state === 'valid' && !workspace.suspended,
    roles: explained,
    unusable: [
      ...gapsOfKey(situation),
      ...gapsOfRoles(situation),
      ...gapsOfSkills(situation),
      ...gapsOfServers(situation),
      ...gapsOfTools(situation),
      ...gapsByRules(situation),
    ],
  };
}

function isOfKey({ roles }: Key, role: { readonly id: string }): boolean {
  return roles === null || roles.some(({ id }) => id === role.id);
}

function gapsOfKey({ workspace, key }: KeySituation): readonly Gap[] {
  const gaps: Gap[] = [];
  const own = { kind: 'key', name: key.name } as const;
  if (key.state === 'revoked') {
    gaps.push({
      ...{ ...own, why: `It was revoked (${isoOrNull(key.revokedAt)}).` },
      change: 'Create another key: svc keys create NAME',
    });
  }
  if (key.state === 'expired') {
    gaps.push({
      ...{ ...own, why: `It expired (${isoOrNull(key.expiresAt)}).` },
      change: `Give it a later expiry: svc keys update ${shellWord(key.name)} --expires 30d`,
    });
  }
  if (key.roles?.length === 0) {
    gaps.push({
      ...{ ...own, why: 'None of its roles exists any more.' },
      change: `Give it roles: svc keys update ${shellWord(key.name)} --role ROLE`,
    });
  }
  if (!workspace.suspended) return gaps;
  const change = 'Only the owner of the workspace or an operator can end the suspension.';
  return [...gaps, { kind: 'workspace', name: workspace.name, why: 'The workspace is suspended.', change }];
}

function gapsOfRoles({ key, roles }: KeySituation): readonly Gap[] {
  return roles.flatMap((role): Gap[] => {
    const own = { kind: 'role', name: role.name } as const;
    if (!isOfKey(key, role)) {
      return [{ ...own, why: 'The key is not for this role.', change: addRole(key, role) }];
    }
    if (!role.enabled) return [{ ...own, why: 'The role is disabled.', change: changes.enableRole(role.name) }];
    if (role.skills.length > 0) return [];
    return [{ ...own, why: 'The role has no skills.', change: changes.addSkill(role.name, 'SKILL') }];
  });
}

/** The command that gives the key one more role. */
function addRole(key: Key, { name }: { readonly name: string }): string {
  const names = [...(key.roles ?? []).map((role) => role.name), name];
  const flags = names.map((one) => `--role ${shellWord(one)}`).join(' ');
  return `Give it to the key: svc keys update ${shellWord(key.name)} ${flags}`;
}

function gapsOfSkills({ key, roles, skills }: KeySituation): readonly Gap[] {
  const rolesOf = new Map<string, Role[]>();
  for (const role of roles) {
    for (const { id } of role.skills) rolesOf.set(id, [...(rolesOf.get(id) ?? []), role]);
  }
  return skills.flatMap((skill): Gap[] => {
    const own = { kind: 'skill', name: skill.name } as const;
    const [first, ...others] = rolesOf.get(skill.id) ?? [];
    if (first === undefined) {
      return [{ ...own, why: 'The skill is in no role.', change: changes.addSkill('ROLE', skill.name) }];
    }
    const all = [first, ...others];
    const names = all.map(({ name }) => name).join(', ');
    const ofKey = all.filter((role) => isOfKey(key, role));
    const [disabled] = ofKey;
    if (disabled === undefined) {
      return [
        { ...own, why: `The skill is only in roles that the key is not for: ${names}.`, change: addRole(key, first) },
      ];
    }
    if (ofKey.every(({ enabled }) => !enabled)) {
      return [
        {
          ...own,
          why: `The skill is only in roles that are disabled: ${names}.`,
          change: changes.enableRole(disabled.name),
        },
      ];
    }
    if (skill.reason === null) return [];
    return [{ ...own, why: skill.reason.message, change: skill.reason.repair }];
  });
}

function gapsOfServers({ mcpServers }: KeySituation): readonly Gap[] {
  return mcpServers.flatMap(({ name, enabled, status, reason }): Gap[] => {
    if (status === 'Connected') return [];
    const own = { kind: 'mcpServer', name } as const;
    if (!enabled) return [{ ...own, why: 'The MCP server is disabled.', change: changes.enableServer(name) }];
    const why = `The MCP server is ${status}${reason === null ? '.' : `: ${reason.message}`}`;
    return [{ ...own, why, change: reason?.repair ?? `See its last words: svc server show ${name}` }];
  });
}

function gapsOfTools({ tools, skills }: KeySituation): readonly Gap[] {
  const inSkills = new Set(skills.flatMap((skill) => skill.tools.map(({ id }) => id)));
  return tools.flatMap(({ id, originalName, mcpServer, listed }): Gap[] => {
    if (inSkills.has(id) || !listed) return [];
    const name = `${mcpServer.name}/${originalName}`;
    return [{ kind: 'tool', name, why: 'The tool is in no skill.', change: changes.addTool('SKILL', name) }];
  });
}

/** Tools that no enabled role of the key with their skill lets pass. */
function gapsByRules({ key, roles, skills, tools }: KeySituation): readonly Gap[] {
  const toolsOfSkill = new Map(skills.map((skill) => [skill.id, skill.tools]));
  const rolesOf = new Map<string, Role[]>();
  for (const role of roles) {
    if (!role.enabled || !isOfKey(key, role)) continue;
    const own = new Set(role.skills.flatMap(({ id }) => (toolsOfSkill.get(id) ?? []).map((tool) => tool.id)));
    for (const id of own) rolesOf.set(id, [...(rolesOf.get(id) ?? []), role]);
  }
  return tools.flatMap((tool): Gap[] => {
    const refusals = (rolesOf.get(tool.id) ?? []).map((role) => ({ role, refusal: refusalBy(role, tool) }));
    const [first] = refusals;
    if (first === undefined || refusals.some(({ refusal }) => refusal === null)) return [];
    const why = refusals
      .slice(0, rolesToldMax)
      .flatMap(({ role, refusal }) =>
        refusal === null
          ? []
          : [`The role ${role.name} does not allow it (rule: ${describeRefusal(refusal, tool.mcpServer.name)}).`],
      )
      .join(' ');
    const name = `${tool.mcpServer.name}/${tool.originalName}`;
    return [{ kind: 'tool', name, why, change: changes.liftRule(first, name) }];
  });
}

const rolesToldMax = 5;

function refusalBy(role: Role, tool: WorkspaceTool | undefined): RuleRefusal | null {
  return tool === undefined ? null : refusalOf(limitsOf(role), ruledTool(tool));
}

interface Refused {
  readonly role: Role;
  readonly refusal: RuleRefusal | null;
}

/** The flag of svc role update that lets a tool pass. */
function flagThatLifts({ refusal }: Refused, tool: string): string {
  switch (refusal?.kind) {
    case 'deny':
      return `--remove-deny ${shellWord(`${refusal.rule.mcpServer}/${refusal.rule.pattern}`)}`;
    case 'read_only':
      return '--no-read-only';
    default:
      return `--add-allow ${shellWord(tool)}`;
  }
}

const changes = {
  liftRule: (refused: Refused, tool: string) =>
    `Change the rules: svc role update ${shellWord(refused.role.name)} ${flagThatLifts(refused, tool)}`,
  enableRole: (role: string) => `Enable it: svc role update ${shellWord(role)} --enable`,
  addSkill: (role: string, skill: string) =>
    `Put a skill into a role: svc role update ${shellWord(role)} --add-skill ${shellWord(skill)}`,
  addTool: (skill: string, tool: string) =>
    `Put it into a skill: svc skill update ${shellWord(skill)} --add-tool ${shellWord(tool)}`,
  enableServer: (server: string) => `Enable it: svc server enable ${shellWord(server)}`,
} as const;
