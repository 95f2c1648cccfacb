import type { ShownError } from '../graphql/shown-error.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';

interface ErrorStateProps {
  readonly error: ShownError;
  readonly onRetry?: (() => void) | undefined;
}

/** A failure: what failed, what to do, and the id to give to the operator. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  return (
    <div role="alert" className="flex flex-wrap gap-3 rounded-control border border-border bg-bad-soft px-4 py-3">
      <Icon name="warning" className="mt-1 text-bad" />
      <div className="grid min-w-0 flex-1 basis-60 content-start gap-1">
        <p className="break-words font-medium">{error.message}</p>
        {error.hint !== null && <p className="break-words text-13">{error.hint}</p>}
        {error.requestId !== null && (
          <p className="flex flex-wrap items-center gap-2 text-12">
            Request <code className="break-all">{error.requestId}</code>
            <CopyButton text={error.requestId} />
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button onClick={onRetry} className="max-tablet:ml-7">
          Try again
        </Button>
      )}
    </div>
  );
}

/** A refusal beside the control that caused it. */
export function ErrorLine({ error }: { readonly error: ShownError | null }) {
  return (
    <p role="alert" className="break-words text-13 text-bad empty:hidden">
      {error === null ? null : [error.message, error.hint].filter(Boolean).join(' ')}
    </p>
  );
}
