/** What the address of the list of skills says. */
export interface SkillsSearch {
  readonly filter?: string | undefined;
  /** The id of the role whose skills are shown. */
  readonly role?: string | undefined;
  readonly available?: boolean | undefined;
  readonly add?: boolean | undefined;
}

export function readSkillsSearch({ filter, role, available, add }: Record<string, unknown>): SkillsSearch {
  return {
    ...(filter !== undefined && filter !== '' && { filter: String(filter).slice(0, 100) }),
    ...(typeof role === 'string' && { role }),
    ...(typeof available === 'boolean' && { available }),
    ...(add === true && { add }),
  };
}

const skillDialogs = ['details', 'instructions', 'tools', 'file', 'roles', 'remove'] as const;
/** What is open on the page of a skill. */
export type SkillDialog = (typeof skillDialogs)[number];

export function readSkillSearch({ open }: Record<string, unknown>): { open?: SkillDialog | undefined } {
  const found = skillDialogs.find((dialog) => dialog === open);
  return found === undefined ? {} : { open: found };
}
