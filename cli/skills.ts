import type { BackendClient } from '../stack/client/backend-client.ts';
import { everyPage } from '../stack/client/every-page.ts';
import { type SkillFragment, skillsQuery } from '../stack/client/generated/operations.ts';
import { named } from './platform.ts';

export type Skill = SkillFragment;

/** A skill may have a thousand tools of as many MCP servers, and the backend answers with 120,000 nodes at most. */
const skillsPerPageMax = 50;

export function fetchSkills(backend: BackendClient, workspace: string): Promise<Skill[]> {
  return everyPage(async ({ first, after }) => {
    const page = { first: Math.min(first, skillsPerPageMax), after };
    return (await backend.send(skillsQuery, { workspace, ...page })).workspace?.skills;
  });
}

export function skillNamed(skills: readonly Skill[], given: string): Skill {
  return named('skill', skills, given);
}
