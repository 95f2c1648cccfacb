import { useState } from 'react';
import { type ShownError, shownErrorOf } from '../graphql/shown-error.ts';

/** An action that is given nothing. */
export interface Action {
  readonly run: () => void;
  readonly isBusy: boolean;
  readonly error: ShownError | null;
}

/** An action of a person: whether it runs, and why it was refused. It runs once at a time. */
export function useAction<Given extends readonly unknown[]>(action: (...given: Given) => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ShownError | null>(null);
  const run = (...given: Given) => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    action(...given)
      .catch((thrown: unknown) => setError(shownErrorOf(thrown)))
      .finally(() => setBusy(false));
  };
  return { run, isBusy, error };
}
