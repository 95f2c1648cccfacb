import { useEffect, useMemo, useRef } from 'react';
import type { UsageRange } from '../../app/usage-range.ts';
import { usePlace } from '../../app/workspace.ts';
import { useNow } from '../../components/use-now.ts';
import { type UsageQuery, usageQuery } from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { hoursOf } from './usage-buckets.ts';

export type Usage = NonNullable<UsageQuery['workspace']>['usageSummary'];
export type Share = Usage['byKey'][number];

/** Calls are no changes of a workspace, so no subscription reports them. */
const refreshMs = 5000;

/** The calls of a range, asked for again while they are on the screen. */
export function useUsage(range: UsageRange) {
  const { workspace } = usePlace();
  const now = useNow(refreshMs);
  const { from, to } = hoursOf(range, now);
  const variables = useMemo(() => ({ workspace: workspace.id, from, to }), [workspace.id, from, to]);
  const { data, error, retry } = useOperation(usageQuery, variables);
  const ask = useRef(retry);
  ask.current = retry;
  const shownAt = useRef(now);
  useEffect(() => {
    if (shownAt.current !== now) ask.current();
    shownAt.current = now;
  }, [now]);
  return { usage: data?.workspace?.usageSummary ?? null, now, error, retry };
}
