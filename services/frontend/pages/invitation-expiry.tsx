import { RelativeTime } from '../components/relative-time.tsx';
import { StatusDot } from '../components/status-dot.tsx';
import { useNow } from '../components/use-now.ts';

const everyMs = 10_000;

/** Whether the link of an invitation works no longer. */
export function useIsExpired(at: number): boolean {
  return at <= useNow(everyMs);
}

export function InvitationExpiry({ at }: { readonly at: number }) {
  if (useIsExpired(at)) return <StatusDot tone="warn">Expired</StatusDot>;
  return (
    <span className="text-quiet">
      <RelativeTime at={at} />
    </span>
  );
}
