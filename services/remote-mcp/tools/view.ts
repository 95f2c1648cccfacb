import type { Principal } from '../../contracts/bus/messages.ts';
import { isAvailable } from '../catalogue/availability.ts';
import type { Catalogue, Role, Skill, Tool } from '../catalogue/catalogue.ts';
import { isChosen } from '../sessions/disclosure.ts';
import type { Session } from '../sessions/session.ts';

/** A session's sight of its workspace: active roles are those enabled, of the key, and chosen; what is outside the key doesn't exist. */
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

/** In an active role. */
export function isUsable(view: View, skill: Skill): boolean {
  for (const role of skill.roles) if (isActive(view, role)) return true;
  return false;
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

/** Tools that are listed: of disclosed, usable and available skills, each once and in the order of their names. */
export function listedTools(view: View): readonly Tool[] {
  const listed = new Set<Tool>();
  for (const skill of disclosedSkills(view)) {
    if (isUsable(view, skill) && isAvailable(skill)) for (const tool of skill.tools) listed.add(tool);
  }
  if (listed.size === 0) return [];
  return [...view.catalogue.toolsByName.values()].filter((tool) => listed.has(tool));
}

/** What a name stands for in a call. Every tool of a usable skill can be called, listed or not. */
export type Resolution =
  | { readonly kind: 'callable'; readonly tool: Tool; readonly skill: Skill }
  | { readonly kind: 'unavailable'; readonly tool: Tool; readonly skill: Skill }
  | { readonly kind: 'inactive'; readonly tool: Tool; readonly skill: Skill }
  | { readonly kind: 'unknown' };

const unknown: Resolution = { kind: 'unknown' };

export function resolveTool(view: View, name: string): Resolution {
  const tool = view.catalogue.toolsByName.get(name);
  if (tool === undefined) return unknown;
  let best: Resolution = unknown;
  for (const skill of tool.skills) {
    if (isUsable(view, skill)) {
      if (!isAvailable(skill)) {
        if (best.kind !== 'callable') best = { kind: 'unavailable', tool, skill };
      } else if (best.kind !== 'callable' || isDisclosed(view, skill)) best = { kind: 'callable', tool, skill };
    } else if (best.kind === 'unknown' && isSkillOfKey(view, skill)) best = { kind: 'inactive', tool, skill };
  }
  return best;
}

function* disclosedSkills({ catalogue, session: { disclosure } }: View): Generator<Skill> {
  for (const id of disclosure.skills) {
    const skill = catalogue.skillsById.get(id);
    if (skill !== undefined) yield skill;
  }
  for (const id of disclosure.roles) yield* catalogue.rolesById.get(id)?.skills ?? [];
}

function isNamed(item: { readonly id: string; readonly name: string }, nameOrId: string): boolean {
  return item.name === nameOrId || item.id === nameOrId;
}
