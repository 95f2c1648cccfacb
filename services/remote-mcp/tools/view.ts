import type { Principal } from '../../contracts/bus/messages.ts';
import { isAvailable, isExpected } from '../catalogue/availability.ts';
import type { Catalogue, Role, Skill, Tool } from '../catalogue/catalogue.ts';
import { isChosen } from '../sessions/disclosure.ts';
import type { Session } from '../sessions/session.ts';

/**
 * A session's view of its workspace. A role is active if it is enabled, belongs to the key, and is chosen. Everything
 * outside the key is hidden.
 */
export interface View {
  readonly catalogue: Catalogue;
  readonly principal: Principal;
  readonly session: Pick<Session, 'disclosure'>;
}

export function isOfKey({ roles }: Principal, role: Role): boolean {
  return roles === null || roles.includes(role.id);
}

export function isActive({ principal, session }: View, role: Role): boolean {
  return role.enabled && isOfKey(principal, role) && isChosen(session.disclosure.choice, role.id);
}

export function isSkillOfKey({ principal }: Pick<View, 'principal'>, skill: Skill): boolean {
  for (const role of skill.roles) if (isOfKey(principal, role)) return true;
  return false;
}

/** Whether the skill belongs to an active role. */
export function isUsable(view: View, skill: Skill): boolean {
  for (const role of skill.roles) if (isActive(view, role)) return true;
  return false;
}

/** Whether the role is one by which the agent may use the tool. Operators are not bound by the rules of roles. */
export function letsPass({ principal }: Pick<View, 'principal'>, role: Role, tool: Tool): boolean {
  return role.rules === null || principal.operator === true || role.rules.letsPass(tool);
}

/** The tools of a usable skill that an active role with this skill lets pass. */
export function permittedTools(view: View, skill: Skill): readonly Tool[] {
  const active = skill.roles.filter((role) => isActive(view, role));
  if (active.some(({ rules }) => rules === null)) return skill.tools;
  return skill.tools.filter((tool) => active.some((role) => letsPass(view, role, tool)));
}

export function isDisclosed({ session: { disclosure } }: View, skill: Skill): boolean {
  return disclosure.skills.includes(skill.id) || skill.roles.some((role) => disclosure.roles.includes(role.id));
}

export function findRole({ catalogue, principal }: View, nameOrId: string): Role | null {
  return catalogue.roles.find((role) => isNamed(role, nameOrId) && isOfKey(principal, role)) ?? null;
}

export function findSkill(view: View, nameOrId: string): Skill | null {
  return view.catalogue.skills.find((skill) => isNamed(skill, nameOrId) && isSkillOfKey(view, skill)) ?? null;
}

/** Tools that are listed, in the order of their names. */
export function listedTools(view: View): readonly Tool[] {
  const listed = listedInNoOrder(view);
  if (listed.size === 0) return [];
  return [...view.catalogue.toolsByName.values()].filter((tool) => listed.has(tool));
}

/**
 * Tools of disclosed and usable skills that are available or starting, each once. A key with the disclosure `all`
 * discloses every skill.
 */
export function listedInNoOrder(view: View): ReadonlySet<Tool> {
  const listed = new Set<Tool>();
  for (const skill of disclosedSkills(view)) {
    if (isUsable(view, skill) && isExpected(skill)) for (const tool of permittedTools(view, skill)) listed.add(tool);
  }
  return listed;
}

/** The meaning of a tool's name in a call. Every tool of a usable skill that a role lets pass can be called, listed or not. The skill is null for an operator. */
export type Resolution =
  | { readonly kind: 'callable'; readonly tool: Tool; readonly skill: Skill | null }
  /** Callable once the MCP servers that start now are Connected. */
  | { readonly kind: 'starting'; readonly tool: Tool; readonly skill: Skill | null }
  | { readonly kind: 'unavailable'; readonly tool: Tool; readonly skill: Skill | null }
  | { readonly kind: 'inactive'; readonly tool: Tool; readonly skill: Skill }
  /** No role of the key lets it pass. */
  | { readonly kind: 'refused'; readonly tool: Tool; readonly skill: Skill }
  | { readonly kind: 'unknown' };

const unknown: Resolution = { kind: 'unknown' };

export function resolveTool(view: View, name: string): Resolution {
  const tool = view.catalogue.toolsByName.get(name);
  if (tool === undefined) return unknown;
  // An operator calls a tool by itself, in whatever skill it is.
  if (view.principal.operator) return { kind: stateOf({ mcpServers: [tool.mcpServer] }), tool, skill: null };
  let best: Resolution = unknown;
  for (const skill of tool.skills) {
    const kind = kindOf(view, skill, tool);
    if (rank[kind] > rank[best.kind] || (kind === 'callable' && isDisclosed(view, skill))) best = { kind, tool, skill };
  }
  return best;
}

/** If several skills contain the tool, the best resolution counts. */
const rank: Readonly<Record<Resolution['kind'], number>> = {
  unknown: 0,
  refused: 1,
  inactive: 2,
  unavailable: 3,
  starting: 4,
  callable: 5,
};

function kindOf(view: View, skill: Skill, tool: Tool): Resolution['kind'] {
  let kind: 'unknown' | 'refused' | 'inactive' = 'unknown';
  for (const role of skill.roles) {
    if (!isOfKey(view.principal, role)) continue;
    if (!letsPass(view, role, tool)) kind = kind === 'inactive' ? kind : 'refused';
    else if (isActive(view, role)) return stateOf(skill);
    else kind = 'inactive';
  }
  return kind;
}

function stateOf(needs: Pick<Skill, 'mcpServers'>): 'callable' | 'starting' | 'unavailable' {
  return isAvailable(needs) ? 'callable' : isExpected(needs) ? 'starting' : 'unavailable';
}

function* disclosedSkills({ catalogue, principal, session: { disclosure } }: View): Generator<Skill> {
  if (principal.disclosure === 'all') {
    yield* catalogue.skills;
    return;
  }
  for (const id of disclosure.skills) {
    const skill = catalogue.skillsById.get(id);
    if (skill !== undefined) yield skill;
  }
  for (const id of disclosure.roles) yield* catalogue.rolesById.get(id)?.skills ?? [];
}

function isNamed(item: { readonly id: string; readonly name: string }, nameOrId: string): boolean {
  return item.name === nameOrId || item.id === nameOrId;
}
