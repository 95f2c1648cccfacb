import { z } from 'zod';

/**
 * What `list_skills` adds to its text for programs, in `_meta` of its result (2025-11-25, "General fields"), which no model is shown: how
 * much a session sees. `svc keys test` tells by it whether a key gives its agent anything.
 */
export const skillsSeenName = 'svc/skills';

export const skillsSeen = z.object({
  skills: z.number().int().nonnegative(),
  /** Different tools of all these skills. */
  tools: z.number().int().nonnegative(),
  /** The first of the skills, and the first of those that are not available now. */
  names: z.array(z.string()),
  unavailable: z.array(z.string()),
});
export type SkillsSeen = z.infer<typeof skillsSeen>;
