import { z } from 'zod';
import type { BackendClient } from '../stack/client/backend-client.ts';
import { readPages } from '../stack/client/read-pages.ts';
import { named } from './platform.ts';

const role = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  skills: z.array(z.object({ id: z.string(), name: z.string() })),
});
export type Role = z.infer<typeof role>;

const fields = 'id name enabled skills(first: 1000) { id name }';

export function fetchRoles(backend: BackendClient, workspaceId: string): Promise<Role[]> {
  return readPages({ backend, workspaceId, list: 'roles', fields, item: role });
}

export function roleNamed(roles: readonly Role[], given: string): Role {
  return named('role', roles, given);
}
