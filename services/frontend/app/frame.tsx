import { Outlet, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ErrorState } from '../components/error-state.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Toasts } from '../components/toast.tsx';
import { viewerQuery } from '../graphql/generated/operations.ts';
import { followChanges } from '../graphql/live.ts';
import { useOperation } from '../graphql/use-operation.ts';
import { ClosedWorkspace } from './closed-workspace.tsx';
import { BottomBar, SideNavigation } from './navigation.tsx';
import { TopBar } from './top-bar.tsx';
import { PlaceContext, placeOf, rememberWorkspace } from './workspace.ts';

/** The frame around all places of a workspace. It is painted before any answer arrives. */
export function Frame() {
  const { workspace: id = '' } = useParams({ strict: false });
  const { data, error, retry } = useOperation(viewerQuery, {});
  const membership = data?.viewer.memberships.find(({ workspace }) => workspace.id === id);
  const place = data === null || membership === undefined ? null : placeOf(data.viewer, membership);
  const isAnswered = data !== null;
  const isOpen = place !== null && !place.workspace.suspended;
  const content = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isAnswered) return;
    if (isOpen) rememberWorkspace(id);
    // The account says when a closed workspace opens.
    return followChanges(isOpen ? id : null);
  }, [id, isAnswered, isOpen]);
  return (
    <PlaceContext value={place}>
      <div className="grid min-h-dvh grid-rows-[auto_1fr] pb-14 tablet:pb-0">
        <button
          type="button"
          onClick={() => content.current?.focus()}
          className="sr-only z-40 rounded-control bg-surface px-3 py-2 shadow-float focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        >
          Skip to content
        </button>
        <TopBar place={place} viewer={data?.viewer ?? null} />
        <div className="mx-auto grid w-full max-w-content content-start gap-6 px-4 py-6 tablet:px-6 desktop:flex desktop:items-start">
          <SideNavigation workspace={id} />
          <main ref={content} id="content" tabIndex={-1} className="min-w-0 flex-1 outline-none">
            {isOpen ? (
              <Outlet />
            ) : error !== null ? (
              <ErrorState error={error} onRetry={retry} />
            ) : data === null ? (
              <Skeleton lines={5} />
            ) : (
              <ClosedWorkspace id={id} />
            )}
          </main>
        </div>
        <BottomBar workspace={id} />
      </div>
      <Toasts />
    </PlaceContext>
  );
}
