import { useEffect, useMemo } from 'react';
import { usePlace } from '../app/workspace.ts';
import { type RoleNamesQuery, roleNamesQuery } from '../graphql/generated/operations.ts';
import { usePages } from '../graphql/use-pages.ts';

export type RoleName = NonNullable<RoleNamesQuery['workspace']>['roles']['nodes'][number];

/** All roles of the workspace, by name. Its limit is that of ten pages. */
export function useRoleNames(): readonly RoleName[] {
  const { workspace } = usePlace();
  const variables = useMemo(() => ({ workspace: workspace.id }), [workspace.id]);
  const { rows, hasMore, loadMore } = usePages({
    operation: roleNamesQuery,
    variables,
    pageOf: (answer: RoleNamesQuery) => answer.workspace?.roles ?? null,
  });
  useEffect(() => {
    if (hasMore) loadMore();
  }, [hasMore, loadMore]);
  return rows ?? [];
}
