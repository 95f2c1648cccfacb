import { findId } from '../services/contracts/ids.ts';
import type { BackendClient } from '../stack/client/backend-client.ts';
import { everyPage } from '../stack/client/every-page.ts';
import { type SkillFragment, type SkillQuery, skillQuery, skillsQuery } from '../stack/client/generated/operations.ts';
import { named, type Tenancy } from './platform.ts';

export type Skill = SkillFragment;
export type SkillDetails = NonNullable<NonNullable<SkillQuery['workspace']>['skill']>;

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

/** A skill with all its parts, by its name or id. Only the error for an unknown name reads the other skills. */
export async function getSkill({ backend, workspace }: Tenancy, given: string): Promise<SkillDetails> {
  const by = findId('skill', given) === null ? { name: given } : { id: given };
  const found = (await backend.send(skillQuery, { workspace: workspace.id, ...by })).workspace?.skill ?? null;
  if (found !== null) return found;
  const { id } = skillNamed(await fetchSkills(backend, workspace.id), given);
  return await getSkill({ backend, workspace }, id);
}

/** The named tools and the patterns of a skill, as MCPSERVER/TOOL. */
export function refsOfSkill({ namedTools, patterns }: SkillDetails): readonly string[] {
  return [
    ...namedTools.map(({ mcpServer, originalName }) => `${mcpServer.name}/${originalName}`),
    ...patterns.map(({ mcpServer, pattern }) => `${mcpServer.name}/${pattern}`),
  ].sort();
}
