import { findId } from '../../services/contracts/ids.ts';
import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { type RoleFragment, type RoleQuery, roleQuery, rolesQuery } from '../../stack/client/generated/operations.ts';
import { named, type Tenancy } from './platform.ts';

export type Role = RoleFragment;
export type RoleDetails = NonNullable<NonNullable<RoleQuery['workspace']>['role']>;

export function fetchRoles(backend: BackendClient, workspace: string): Promise<Role[]> {
  return everyPage(async (page) => (await backend.send(rolesQuery, { workspace, ...page })).workspace?.roles);
}

export function roleNamed(roles: readonly Role[], given: string): Role {
  return named('role', roles, given);
}

/** A role with all its parts, by its name or id. Only the error for an unknown name reads the other roles. */
export async function getRole({ backend, workspace }: Tenancy, given: string): Promise<RoleDetails> {
  const by = findId('role', given) === null ? { name: given } : { id: given };
  const found = (await backend.send(roleQuery, { workspace: workspace.id, ...by })).workspace?.role ?? null;
  if (found !== null) return found;
  const { id } = roleNamed(await fetchRoles(backend, workspace.id), given);
  return await getRole({ backend, workspace }, id);
}
