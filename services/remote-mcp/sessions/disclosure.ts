import type { RoleId, SkillId } from '../../contracts/ids.ts';

/** The roles that an agent chose for its session: all roles of its key, or some. */
export type RoleChoice =
  | { readonly kind: 'all_but'; readonly roles: readonly RoleId[] }
  | { readonly kind: 'only'; readonly roles: readonly RoleId[] };

/** The skills and roles disclosed to a session, beyond the constant tools. Immutable. */
export interface Disclosure {
  readonly choice: RoleChoice;
  /** Loaded, or named by `skillIds`. */
  readonly skills: readonly SkillId[];
  /** Named by `roleIds`: all their skills are disclosed. */
  readonly roles: readonly RoleId[];
}

export const nothingDisclosed: Disclosure = { choice: { kind: 'all_but', roles: [] }, skills: [], roles: [] };

/** A record of a session must stay small, and an agent has no use for more. */
export const skillsMax = 1000;

export function isChosen(choice: RoleChoice, role: RoleId): boolean {
  return choice.roles.includes(role) === (choice.kind === 'only');
}

export function withSkill(disclosure: Disclosure, skill: SkillId): Disclosure {
  return disclosure.skills.includes(skill) ? disclosure : { ...disclosure, skills: [...disclosure.skills, skill] };
}

/** The same disclosure with a role chosen, or no longer chosen. */
export function withRole(disclosure: Disclosure, role: RoleId, chosen: boolean): Disclosure {
  const { choice } = disclosure;
  if (isChosen(choice, role) === chosen) return disclosure;
  const isListed = chosen === (choice.kind === 'only');
  const roles = isListed ? [...choice.roles, role] : choice.roles.filter((other) => other !== role);
  return { ...disclosure, choice: { kind: choice.kind, roles } };
}
