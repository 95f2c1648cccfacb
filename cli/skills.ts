import { z } from 'zod';
import type { BackendClient } from '../stack/backend-client.ts';
import { everyPage, notFound, pageInfo, reason } from './platform.ts';

const skill = z.object({
  id: z.string(),
  name: z.string(),
  available: z.boolean(),
  reason: reason.nullable(),
  tools: z.array(z.object({ id: z.string() })),
  mcpServers: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type Skill = z.infer<typeof skill>;

const page = z.object({ workspace: z.object({ skills: z.object({ nodes: z.array(skill), pageInfo }) }) });

export function fetchSkills(backend: BackendClient, workspace: string): Promise<Skill[]> {
  return everyPage(async (first, after) => {
    const answer = await backend.query(
      `query ($id: ID, $first: Int, $after: String) {
        workspace(id: $id) { skills(first: $first, after: $after) {
          nodes { id name available reason { code message repair } tools { id } mcpServers { id name } } pageInfo { next }
        } }
      }`,
      { id: workspace, first, after },
      page.parse,
    );
    return answer.workspace.skills;
  });
}

export function skillNamed(skills: readonly Skill[], given: string): Skill {
  const found = skills.find((candidate) => candidate.name === given || candidate.id === given);
  if (found !== undefined) return found;
  throw notFound(
    'skill',
    given,
    skills.map((candidate) => candidate.name),
  );
}
