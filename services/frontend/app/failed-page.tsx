import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorState } from '../components/error-state.tsx';
import { ShownError, shownErrorOf } from '../graphql/shown-error.ts';

/** A page that failed. Loading it again also brings the code of a newer version of the platform. */
export function FailedPage({ error }: ErrorComponentProps) {
  return (
    <div className="mx-auto grid max-w-text p-4">
      <ErrorState error={isUnloaded(error) ? unloaded : shownErrorOf(error)} onRetry={() => window.location.reload()} />
    </div>
  );
}

/** In the words of Chromium, Firefox and Safari. */
function isUnloaded(error: unknown): boolean {
  return /(fetch|loading) dynamically imported module|importing a module script/i.test(String(error));
}

const unloaded = new ShownError({
  code: 'unavailable',
  message: 'A part of this page could not be loaded.',
  hint: 'Check your connection, and try again. The platform may have been updated while the page was open.',
  requestId: null,
});
