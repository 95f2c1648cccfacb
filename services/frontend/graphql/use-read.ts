import { useEffect, useRef, useState } from 'react';
import { type ShownError, shownErrorOf } from './shown-error.ts';
import type { Answer } from './use-operation.ts';

interface Outcome<Result> {
  readonly asked: string;
  readonly data: Result | null;
  readonly error: ShownError | null;
}

/** What `read` returns, once for each `key`: for a question that is no query, or whose answer need not follow changes. */
export function useRead<Result>(key: string, read: () => Promise<Result>): Answer<Result> {
  const [attempt, setAttempt] = useState(0);
  const [outcome, setOutcome] = useState<Outcome<Result> | null>(null);
  const asked = `${attempt} ${key}`;
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    let isLatest = true;
    const show = (given: Omit<Outcome<Result>, 'asked'>) => isLatest && setOutcome({ asked, ...given });
    latest.current().then(
      (data) => show({ data, error: null }),
      (thrown: unknown) => show({ data: null, error: shownErrorOf(thrown) }),
    );
    return () => {
      isLatest = false;
    };
  }, [asked]);
  const { data, error } = outcome?.asked === asked ? outcome : { data: null, error: null };
  return { data, error, retry: () => setAttempt(attempt + 1) };
}
