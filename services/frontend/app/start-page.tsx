import { Navigate } from '@tanstack/react-router';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { viewerQuery } from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';
import { lastWorkspace } from './workspace.ts';

/** Opens the workspace that was open last. */
export function StartPage() {
  const { data, error, retry } = useOperation(viewerQuery, {});
  const membership = data === null ? null : lastWorkspace(data.viewer);
  if (membership !== null)
    return <Navigate to="/w/$workspace" params={{ workspace: membership.workspace.id }} replace />;
  return (
    <main className="mx-auto max-w-content px-4 py-10">
      {error !== null ? (
        <ErrorState error={error} onRetry={retry} />
      ) : data === null ? (
        <Skeleton />
      ) : (
        <EmptyState title="You are in no workspace yet">
          Ask an owner to invite you, or create a workspace on the machine of the platform: svc workspace create
        </EmptyState>
      )}
    </main>
  );
}
