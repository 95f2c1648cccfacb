import { z } from 'zod';
import type { BackendClient } from '../stack/backend-client.ts';
import { everyPage, pageInfo } from '../stack/every-page.ts';
import { named } from './platform.ts';

const role = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  skills: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type Role = z.infer<typeof role>;

const page = z.object({ workspace: z.object({ roles: z.object({ nodes: z.array(role), pageInfo }) }) });

export function fetchRoles(backend: BackendClient, workspace: string): Promise<Role[]> {
  return everyPage(async (first, after) => {
    const answer = await backend.query(
      `query ($id: ID, $first: Int, $after: String) {
        workspace(id: $id) { roles(first: $first, after: $after) { nodes { id name enabled skills(first: 1000) { id name } } pageInfo { next } } }
      }`,
      { id: workspace, first, after },
      page.parse,
    );
    return answer.workspace.roles;
  });
}

export function roleNamed(roles: readonly Role[], given: string): Role {
  return named('role', roles, given);
}
