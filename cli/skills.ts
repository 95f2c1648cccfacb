import { z } from 'zod';
import type { BackendClient } from '../stack/client/backend-client.ts';
import { everyPage, pageInfo } from '../stack/client/every-page.ts';
import { reason } from '../stack/client/reason.ts';
import { named } from './platform.ts';

const skill = z.object({
  id: z.string(),
  name: z.string(),
  available: z.boolean(),
  reason: reason.nullable(),
  tools: z.array(z.object({ id: z.string() })),
  mcpServers: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type Skill = z.infer<typeof skill>;

/** Each may have a thousand tools of as many MCP servers, and the backend gives 120,000 nodes at once. */
const skillsAtOnce = 50;

const page = z.object({ workspace: z.object({ skills: z.object({ nodes: z.array(skill), pageInfo }) }) });

export function fetchSkills(backend: BackendClient, workspace: string): Promise<Skill[]> {
  return everyPage(async (_, after) => {
    const answer = await backend.query(
      `query ($id: ID, $first: Int, $after: String) {
        workspace(id: $id) { skills(first: $first, after: $after) {
          nodes { id name available reason { code message repair } tools { id } mcpServers(first: 1000) { id name } } pageInfo { next }
        } }
      }`,
      { id: workspace, first: skillsAtOnce, after },
      page.parse,
    );
    return answer.workspace.skills;
  });
}

export function skillNamed(skills: readonly Skill[], given: string): Skill {
  return named('skill', skills, given);
}
