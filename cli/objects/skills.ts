import { SvcError } from '../../services/contracts/errors.ts';
import { findId } from '../../services/contracts/ids.ts';
import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import {
  type SkillFragment,
  type SkillPartsFragment,
  type SkillQuery,
  skillNamesQuery,
  skillPartsQuery,
  skillQuery,
  skillsQuery,
} from '../../stack/client/generated/operations.ts';
import { named, type Tenancy } from './platform.ts';

export type Skill = SkillFragment;
export type SkillParts = SkillPartsFragment;
export type SkillDetails = NonNullable<NonNullable<SkillQuery['workspace']>['skill']>;

/** A skill may have a thousand tools of as many MCP servers, and the backend answers with 120,000 nodes at most. */
const skillsPerPageMax = 50;

export function fetchSkills(backend: BackendClient, workspace: string): Promise<Skill[]> {
  return everyPage(async ({ first, after }) => {
    const page = { first: Math.min(first, skillsPerPageMax), after };
    return (await backend.send(skillsQuery, { workspace, ...page })).workspace?.skills;
  });
}

export function skillNamed<One extends NamedSkill>(skills: readonly One[], given: string): One {
  return named('skill', skills, given);
}

/** Names and ids alone, which cost much less than the states. */
export function fetchSkillNames({ backend, workspace }: Tenancy): Promise<NamedSkill[]> {
  return everyPage(
    async (page) => (await backend.send(skillNamesQuery, { workspace: workspace.id, ...page })).workspace?.skills,
  );
}

interface NamedSkill {
  readonly id: string;
  readonly name: string;
}

/** What people set of a skill, by its name or id. Only the error for an unknown name reads the other skills. */
export async function getSkillParts({ backend, workspace }: Tenancy, given: string): Promise<SkillParts> {
  const by = findId('skill', given) === null ? { name: given } : { id: given };
  const found = (await backend.send(skillPartsQuery, { workspace: workspace.id, ...by })).workspace?.skill ?? null;
  if (found !== null) return found;
  const { id } = named('skill', await fetchSkillNames({ backend, workspace }), given);
  return await getSkillParts({ backend, workspace }, id);
}

/** A skill with its tools and their states, by its name or id. */
export async function getSkill(tenancy: Tenancy, given: string): Promise<SkillDetails> {
  const { id } = await getSkillParts(tenancy, given);
  const found = (await tenancy.backend.send(skillQuery, { workspace: tenancy.workspace.id, id })).workspace?.skill;
  if (found != null) return found;
  throw new SvcError('conflict', 'The skill was removed meanwhile.', { hint: 'List those that exist: svc skill list' });
}
