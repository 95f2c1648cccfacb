/** Roles of members, from the least to the most. Each includes the rights of those before it. */
export const memberRoles = ['viewer', 'editor', 'admin', 'owner'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Nobody changes a member of a higher role, or gives a role above their own. */
export function isAtLeast(role: MemberRole, other: MemberRole): boolean {
  return memberRoles.indexOf(role) >= memberRoles.indexOf(other);
}

export function findMemberRole(text: string): MemberRole | null {
  return memberRoles.find((role) => role === text) ?? null;
}
