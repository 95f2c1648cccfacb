import type { KeyDisclosure } from './key-disclosure.ts';
import { describeRefusal, type RoleLimits, type RuleRefusal, refusalOf, type ToolRuleEffect } from './tool-rules.ts';

/** All that decides what an agent with a key can use. */
export interface KeySituation {
  readonly workspace: { readonly name: string; readonly suspended: boolean };
  readonly key: SituatedKey;
  readonly roles: readonly SituatedRole[];
  readonly skills: readonly SituatedSkill[];
  readonly tools: readonly SituatedTool[];
  readonly mcpServers: readonly SituatedServer[];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface SituatedKey extends Named {
  readonly hint: string;
  readonly state: 'valid' | 'expired' | 'revoked';
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly disclosure: KeyDisclosure;
  /** Null: every role of the workspace. */
  readonly roles: readonly Named[] | null;
}

export interface SituatedRole extends Named {
  readonly enabled: boolean;
  readonly readOnly: boolean;
  readonly rules: readonly {
    readonly effect: ToolRuleEffect;
    readonly tool: string;
    readonly mcpServer: { readonly name: string };
  }[];
  readonly skills: readonly Named[];
}

interface Reason {
  readonly message: string;
  readonly repair: string;
}

export interface SituatedSkill extends Named {
  readonly available: boolean;
  readonly reason: Reason | null;
  readonly tools: readonly { readonly id: string }[];
}

export interface SituatedTool {
  readonly id: string;
  /** Its name for agents; null until the MCP server has listed it. */
  readonly name: string | null;
  readonly originalName: string;
  readonly listed: boolean;
  readonly isReadOnly: boolean;
  readonly mcpServer: { readonly name: string };
}

export interface SituatedServer extends Named {
  readonly enabled: boolean;
  readonly status: 'Connected' | 'Disconnected' | 'Error';
  readonly reason: Reason | null;
}

/** A part of the workspace that an agent with the key cannot use. */
export interface Gap {
  readonly kind: 'key' | 'workspace' | 'role' | 'skill' | 'tool' | 'mcpServer';
  /** Of a tool: with its MCP server. */
  readonly name: string;
  readonly why: string;
  readonly change: GapChange;
}

/** What closes a gap. The command line names a command for it, and the pages a place. */
export type GapChange =
  | { readonly kind: 'createKey' | 'extendKey' | 'giveRoles' | 'endSuspension' }
  | { readonly kind: 'giveRole' | 'enableRole' | 'fillRole'; readonly role: Named }
  | { readonly kind: 'useSkill'; readonly skill: Named }
  | { readonly kind: 'repairSkill'; readonly skill: Named; readonly repair: string }
  | { readonly kind: 'useTool'; readonly tool: string }
  | { readonly kind: 'liftRule'; readonly role: Named; readonly refusal: RuleRefusal | null; readonly tool: string }
  | { readonly kind: 'enableServer'; readonly mcpServer: Named }
  /** `repair` is null if the MCP server gives no reason. */
  | { readonly kind: 'repairServer'; readonly mcpServer: Named; readonly repair: string | null };

export interface Explanation {
  readonly workspace: string;
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly hint: string;
    readonly state: SituatedKey['state'];
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
  readonly reason: Reason | null;
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

/** What an agent with the key can use, in numbers. A skill of several roles has the tools that any of them lets pass. */
export interface UsableParts {
  readonly skills: number;
  readonly availableSkills: number;
  /** Of the available skills. */
  readonly tools: number;
}

export function countUsable({ roles }: Pick<Explanation, 'roles'>): UsableParts {
  const skills = roles.filter(({ enabled }) => enabled).flatMap((role) => role.skills);
  const available = skills.filter((skill) => skill.available);
  return {
    skills: new Set(skills.map(({ id }) => id)).size,
    availableSkills: new Set(available.map(({ id }) => id)).size,
    tools: new Set(available.flatMap(({ tools }) => tools)).size,
  };
}

/** Gaps of one kind with one reason, which are told together. */
export function groupGaps<One extends Pick<Gap, 'kind' | 'why'>>(gaps: readonly One[]): readonly (readonly One[])[] {
  return [...Map.groupBy(gaps, ({ kind, why }) => `${kind}\n${why}`).values()];
}

/** The reason of gaps that are told together. */
export function whyOf([first, ...others]: readonly Pick<Gap, 'why'>[]): string {
  const why = first?.why ?? '';
  if (others.length === 0) return why;
  return why
    .replace(/^The (?:role|skill|tool|MCP server) (is|has) /, 'Each $1 ')
    .replace(/ for this role\.$/, ' for these roles.');
}

function isOfKey({ roles }: SituatedKey, role: { readonly id: string }): boolean {
  return roles === null || roles.some(({ id }) => id === role.id);
}

function gapsOfKey({ workspace, key }: KeySituation): readonly Gap[] {
  const gaps: Gap[] = [];
  const own = { kind: 'key', name: key.name } as const;
  if (key.state === 'revoked') {
    gaps.push({
      ...{ ...own, why: `It was revoked (${isoOrNull(key.revokedAt)}).` },
      change: { kind: 'createKey' },
    });
  }
  if (key.state === 'expired') {
    gaps.push({
      ...{ ...own, why: `It expired (${isoOrNull(key.expiresAt)}).` },
      change: { kind: 'extendKey' },
    });
  }
  if (key.roles?.length === 0) {
    gaps.push({
      ...{ ...own, why: 'None of its roles exists any more.' },
      change: { kind: 'giveRoles' },
    });
  }
  if (!workspace.suspended) return gaps;
  const change = { kind: 'endSuspension' } as const;
  return [...gaps, { kind: 'workspace', name: workspace.name, why: 'The workspace is suspended.', change }];
}

function gapsOfRoles({ key, roles }: KeySituation): readonly Gap[] {
  return roles.flatMap((role): Gap[] => {
    const own = { kind: 'role', name: role.name } as const;
    if (!isOfKey(key, role)) {
      return [{ ...own, why: 'The key is not for this role.', change: { kind: 'giveRole', role } }];
    }
    if (!role.enabled) return [{ ...own, why: 'The role is disabled.', change: { kind: 'enableRole', role } }];
    if (role.skills.length > 0) return [];
    return [{ ...own, why: 'The role has no skills.', change: { kind: 'fillRole', role } }];
  });
}

function gapsOfSkills({ key, roles, skills }: KeySituation): readonly Gap[] {
  const rolesOf = new Map<string, SituatedRole[]>();
  for (const role of roles) {
    for (const { id } of role.skills) rolesOf.set(id, [...(rolesOf.get(id) ?? []), role]);
  }
  return skills.flatMap((skill): Gap[] => {
    const own = { kind: 'skill', name: skill.name } as const;
    const [first, ...others] = rolesOf.get(skill.id) ?? [];
    if (first === undefined) {
      return [{ ...own, why: 'The skill is in no role.', change: { kind: 'useSkill', skill } }];
    }
    const all = [first, ...others];
    const names = all.map(({ name }) => name).join(', ');
    const ofKey = all.filter((role) => isOfKey(key, role));
    const [disabled] = ofKey;
    if (disabled === undefined) {
      return [
        {
          ...own,
          why: `The skill is only in roles that the key is not for: ${names}.`,
          change: { kind: 'giveRole', role: first },
        },
      ];
    }
    if (ofKey.every(({ enabled }) => !enabled)) {
      return [
        {
          ...own,
          why: `The skill is only in roles that are disabled: ${names}.`,
          change: { kind: 'enableRole', role: disabled },
        },
      ];
    }
    if (skill.reason === null) return [];
    return [{ ...own, why: skill.reason.message, change: { kind: 'repairSkill', skill, repair: skill.reason.repair } }];
  });
}

function gapsOfServers({ mcpServers }: KeySituation): readonly Gap[] {
  return mcpServers.flatMap((mcpServer): Gap[] => {
    const { name, enabled, status, reason } = mcpServer;
    if (status === 'Connected') return [];
    const own = { kind: 'mcpServer', name } as const;
    if (!enabled) return [{ ...own, why: 'The MCP server is disabled.', change: { kind: 'enableServer', mcpServer } }];
    const why = `The MCP server is ${status}.${reason === null ? '' : ` ${reason.message}`}`;
    return [{ ...own, why, change: { kind: 'repairServer', mcpServer, repair: reason?.repair ?? null } }];
  });
}

function gapsOfTools({ tools, skills }: KeySituation): readonly Gap[] {
  const inSkills = new Set(skills.flatMap((skill) => skill.tools.map(({ id }) => id)));
  return tools.flatMap(({ id, originalName, mcpServer, listed }): Gap[] => {
    if (inSkills.has(id) || !listed) return [];
    const name = `${mcpServer.name}/${originalName}`;
    return [{ kind: 'tool', name, why: 'The tool is in no skill.', change: { kind: 'useTool', tool: name } }];
  });
}

/** Tools that no enabled role of the key with their skill lets pass. */
function gapsByRules({ key, roles, skills, tools }: KeySituation): readonly Gap[] {
  const toolsOfSkill = new Map(skills.map((skill) => [skill.id, skill.tools]));
  const rolesOf = new Map<string, SituatedRole[]>();
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
    return [{ kind: 'tool', name, why, change: { kind: 'liftRule', ...first, tool: name } }];
  });
}

const rolesToldMax = 5;

function refusalBy(role: SituatedRole, tool: SituatedTool | undefined): RuleRefusal | null {
  return tool === undefined ? null : refusalOf(limitsOf(role), { ...tool, mcpServer: tool.mcpServer.name });
}

/** MCP servers stand by their names, here and in the tools. */
function limitsOf({ readOnly, rules }: SituatedRole): RoleLimits {
  return {
    readOnly,
    rules: rules.map(({ effect, mcpServer, tool }) => ({ effect, mcpServer: mcpServer.name, pattern: tool })),
  };
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
