import type { BackendClient } from '../stack/client/backend-client.ts';
import { everyPage } from '../stack/client/every-page.ts';
import { type RoleFragment, rolesQuery } from '../stack/client/generated/operations.ts';
import { named } from './platform.ts';

export type Role = RoleFragment;

export function fetchRoles(backend: BackendClient, workspace: string): Promise<Role[]> {
  return everyPage(async (page) => (await backend.send(rolesQuery, { workspace, ...page })).workspace?.roles);
}

export function roleNamed(roles: readonly Role[], given: string): Role {
  return named('role', roles, given);
}
