import { z } from 'zod';

/**
 * `list_skills` adds the number of visible skills for programs, in `_meta` of its result (2025-11-25, "General
 * fields"), which models do not see. `svc keys test` uses it to find out whether a key gives its agent anything.
 */
export const skillsSeenName = 'svc/skills';

export const skillsSeen = z.object({
  skills: z.number().int().nonnegative(),
  /** Distinct tools of all these skills. */
  tools: z.number().int().nonnegative(),
  /** The first of the skills, and the first of those that are not available now. */
  names: z.array(z.string()),
  unavailable: z.array(z.string()),
});
export type SkillsSeen = z.infer<typeof skillsSeen>;
