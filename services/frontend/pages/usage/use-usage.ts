import type { UsageRange } from '../../app/usage-range.ts';
import { usePlace } from '../../app/workspace.ts';
import { useNow } from '../../components/use-now.ts';
import { type UsageQuery, usageQuery } from '../../graphql/generated/operations.ts';
import { useCallsCounted } from '../../graphql/use-calls-counted.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { hoursOf } from './usage-buckets.ts';

export type Usage = NonNullable<UsageQuery['workspace']>['usageSummary'];
export type Share = Usage['byKey'][number];

/** A range ends with the present hour. */
const moveRangeMs = 60_000;

/** The calls of a range, as they are counted. */
export function useUsage(range: UsageRange) {
  const { workspace } = usePlace();
  const now = useNow(moveRangeMs);
  const { from, to } = hoursOf(range, now);
  const { data, error, retry } = useOperation(usageQuery, { workspace: workspace.id, from, to });
  useCallsCounted(retry);
  return { usage: data?.workspace?.usageSummary ?? null, now, error, retry };
}
