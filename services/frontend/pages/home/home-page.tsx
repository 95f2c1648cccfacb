import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useConcerns } from '../../app/use-concerns.ts';
import { usePlace } from '../../app/workspace.ts';
import { ErrorState } from '../../components/error-state.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { StatusDot } from '../../components/status-dot.tsx';
import { PageHead } from '../page-head.tsx';
import { UsageTotals } from '../usage/usage-totals.tsx';
import { useUsage } from '../usage/use-usage.ts';
import { ConcernList } from './concern-list.tsx';
import { GetStarted } from './get-started.tsx';
import { useServiceConcerns } from './service-concerns.ts';
import { useBeginning } from './use-beginning.ts';

// Until the first call, nobody needs the code of the chart.
const CallsOverTime = lazy(() =>
  import('../usage/calls-over-time.tsx').then(({ CallsOverTime: component }) => ({ default: component })),
);

/** Whether everything is well, what needs the person, and then how to connect an agent, or what agents call. */
export function HomePage() {
  const place = usePlace();
  const { concerns, hasMore, error, retry } = useConcerns(place);
  const services = useServiceConcerns();
  const all = concerns === null ? null : [...services, ...concerns];
  const beginning = useBeginning();
  // What refuses one question mostly refuses all, and a person reads the reason once.
  const problem = error ?? (beginning.state === null ? beginning.error : null);
  const retryAll = () => {
    retry();
    beginning.retry();
  };
  return (
    <>
      <PageHead
        title={place.workspace.name}
        about={
          all !== null ? (
            <Verdict count={all.length} hasMore={hasMore} />
          ) : problem === null ? (
            'Checking…'
          ) : (
            'Its state is not known.'
          )
        }
      />
      <div className="grid gap-10">
        {problem !== null && <ErrorState error={problem} onRetry={retryAll} />}
        {all !== null && all.length > 0 && <ConcernList concerns={all} hasMore={hasMore} />}
        {beginning.state === null ? (
          beginning.error === null && <Skeleton lines={6} />
        ) : beginning.state.hasCalls ? (
          <UsageAtAGlance isRefused={problem !== null} />
        ) : (
          <GetStarted state={beginning.state} />
        )}
      </div>
    </>
  );
}

function Verdict({ count, hasMore }: { readonly count: number; readonly hasMore: boolean }) {
  if (count === 0) return <StatusDot tone="good">Everything is well</StatusDot>;
  const words = count === 1 ? '1 thing is not well' : `${hasMore ? 'At least ' : ''}${count} things are not well`;
  return <StatusDot tone="bad">{words}</StatusDot>;
}

const range = '7d';

/** If the page was refused, it has said why. */
function UsageAtAGlance({ isRefused }: { readonly isRefused: boolean }) {
  const { workspace } = usePlace();
  const { usage, now, error, retry } = useUsage(range);
  const at = { workspace: workspace.id };
  return (
    <section aria-labelledby="usage" className="grid gap-6">
      <header className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
        <h2 id="usage" className="font-semibold text-16">
          Usage in the last 7 days
        </h2>
        <p className="flex gap-6 text-13">
          <Link to="/w/$workspace/profile/api-keys" params={at} search={{ add: true }} className={linkClass}>
            Connect another agent
          </Link>
          <Link to="/w/$workspace/settings/usage" params={at} className={linkClass}>
            All usage
          </Link>
        </p>
      </header>
      {error !== null && !isRefused && <ErrorState error={error} onRetry={retry} />}
      {usage === null ? (
        error === null && <Skeleton lines={6} />
      ) : (
        <>
          <UsageTotals usage={usage} />
          <Suspense>{usage.calls > 0 && <CallsOverTime usage={usage} range={range} now={now} />}</Suspense>
        </>
      )}
    </section>
  );
}

const linkClass = 'text-accent hover:underline';
