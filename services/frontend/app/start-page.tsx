import { Navigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { viewerQuery } from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';
import { lastWorkspace } from './workspace.ts';

const CreateWorkspace = lazy(() =>
  import('../pages/workspace/create-workspace.tsx').then(({ CreateWorkspace: component }) => ({ default: component })),
);

/** Opens the workspace that was open last. */
export function StartPage() {
  const { data, error, retry } = useOperation(viewerQuery, {});
  const membership = data === null ? null : lastWorkspace(data.viewer);
  if (membership !== null)
    return <Navigate to="/w/$workspace" params={{ workspace: membership.workspace.id }} replace />;
  return (
    <main className="mx-auto max-w-content px-4 py-10">
      {error !== null ? <ErrorState error={error} onRetry={retry} /> : data === null ? <Skeleton /> : <NoWorkspace />}
    </main>
  );
}

function NoWorkspace() {
  const [isCreating, setCreating] = useState(false);
  const createButton = (
    <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
      Create workspace
    </Button>
  );
  return (
    <>
      <EmptyState title="You are in no workspace yet" action={createButton}>
        Ask an owner to invite you, or create a workspace of your own.
      </EmptyState>
      <Suspense>{isCreating && <CreateWorkspace onClose={() => setCreating(false)} />}</Suspense>
    </>
  );
}
