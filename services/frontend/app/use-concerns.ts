import { useMemo } from 'react';
import { attentionQuery } from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';
import { concernsOf, hasMoreConcerns } from './concerns.ts';
import type { Place } from './workspace.ts';

/** The concerns of a workspace; null until they are known. The top bar and Home ask the same question. */
export function useConcerns(place: Place | null) {
  const variables = { workspace: place?.workspace.id ?? '' };
  const isClosed = place === null || place.workspace.suspended;
  const { data, error, retry } = useOperation(attentionQuery, variables, isClosed);
  const mayConfigure = place?.mayConfigure ?? false;
  const answer = isClosed ? null : (data?.workspace ?? null);
  const concerns = useMemo(
    () => (answer === null ? null : concernsOf(answer, { mayConfigure, now: Date.now() })),
    [answer, mayConfigure],
  );
  return { concerns, hasMore: answer !== null && hasMoreConcerns(answer), error, retry };
}
