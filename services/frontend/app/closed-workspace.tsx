import { Link } from '@tanstack/react-router';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { openedWorkspaceQuery } from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';

/** Why a workspace does not open: it or the membership is suspended, or the person is no member. */
export function ClosedWorkspace({ id }: { readonly id: string }) {
  const { data, error, retry } = useOperation(openedWorkspaceQuery, { workspace: id });
  const others = (
    <Link to="/" className="text-accent hover:underline">
      Open another workspace
    </Link>
  );
  if (error?.code === 'forbidden') {
    return (
      <EmptyState title="This workspace is closed to you" action={others}>
        {error.message} An owner or an operator of the platform can open it again, and this page then shows it.
      </EmptyState>
    );
  }
  if (error !== null) return <ErrorState error={error} onRetry={retry} />;
  // It is open: the list of the person's workspaces, which says so, is on its way.
  if (data === null || data.workspace !== null) return <Skeleton lines={5} />;
  return (
    <EmptyState title="This workspace is not yours" action={others}>
      You are no member of the workspace {id}, or it does not exist. Its owners can invite you.
    </EmptyState>
  );
}
