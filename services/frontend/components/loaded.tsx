import type { ReactNode } from 'react';
import type { ShownError } from '../graphql/shown-error.ts';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';

interface LoadedProps<Value> {
  /** Null: no answer has it yet. */
  readonly value: Value | null;
  readonly error: ShownError | null;
  readonly onRetry: (() => void) | undefined;
  /** Lines of the shape that stands for the value. */
  readonly lines?: number;
  readonly children: (value: Value) => ReactNode;
}

/** What was asked for. A refusal stands above it: the value may be missing, or older than the refusal. */
export function Loaded<Value>({ value, error, onRetry, lines = 6, children }: LoadedProps<Value>) {
  return (
    <>
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={onRetry} />
        </div>
      )}
      {value !== null ? children(value) : error === null && <Skeleton lines={lines} />}
    </>
  );
}
