import { usePlace } from '../app/workspace.ts';
import { type RoleNamesQuery, roleNamesQuery } from '../graphql/generated/operations.ts';
import { useEveryRow } from '../graphql/use-every-row.ts';

export type RoleName = NonNullable<RoleNamesQuery['workspace']>['roles']['nodes'][number];

/** All roles of the workspace, by name. Its limit is that of ten pages. */
export function useRoleNames(): readonly RoleName[] {
  const { workspace } = usePlace();
  const { rows } = useEveryRow({
    operation: roleNamesQuery,
    variables: { workspace: workspace.id },
    pageOf: (answer: RoleNamesQuery) => answer.workspace?.roles ?? null,
  });
  return rows ?? [];
}
