import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { usePlace } from '../app/workspace.ts';
import { type Bar, BarChart } from '../components/bar-chart.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Select } from '../components/select.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { PageHead } from './page-head.tsx';
import { ShareTable } from './share-table.tsx';
import {
  bucketsOf,
  durationInWords,
  findUsageRange,
  percentOf,
  type UsageRange,
  usageRanges,
} from './usage-buckets.ts';
import { type Usage, useUsage } from './use-usage.ts';

const from = '/w/$workspace/settings/usage';
const options = Object.entries(usageRanges).map(([value, { title }]) => ({ value, title: `Last ${title}` }));

/** The calls of agents: when, how long, how many failed, with which keys and skills. */
export function UsagePage() {
  const { workspace } = usePlace();
  const { range = '7d' } = useSearch({ from });
  const navigate = useNavigate({ from });
  const { usage, now, error, retry } = useUsage(range);
  return (
    <>
      <PageHead
        title="Usage"
        about="Calls of tools by agents. Who changed what is in the activity."
        action={
          <Select
            label="Range"
            value={range}
            options={options}
            onValue={(value) => void navigate({ search: { range: findUsageRange(value) }, replace: true })}
          />
        }
      />
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={retry} />
        </div>
      )}
      {usage === null ? (
        error === null && <Skeleton lines={8} />
      ) : usage.calls === 0 ? (
        <EmptyState
          title={`No calls in the last ${usageRanges[range].title}`}
          action={
            <Link to="/w/$workspace" params={{ workspace: workspace.id }} className="text-accent hover:underline">
              Connect an agent
            </Link>
          }
        >
          Every call of a tool by an agent is counted here, a few seconds after it ends.
        </EmptyState>
      ) : (
        <Sums usage={usage} range={range} now={now} />
      )}
    </>
  );
}

function Sums({ usage, range, now }: { readonly usage: Usage; readonly range: UsageRange; readonly now: number }) {
  const { calls, errors, durationMs, isComplete } = usage;
  return (
    <div className="grid gap-8">
      {!isComplete && (
        <p className="rounded-control bg-warn-soft px-4 py-3 text-13">
          There are more records than one sum reads. The earliest calls are left out; a shorter range has all.
        </p>
      )}
      <dl className="flex flex-wrap gap-x-10 gap-y-2">
        <Total name="Calls">{calls.toLocaleString('en')}</Total>
        <Total name="Failed">{`${errors.toLocaleString('en')} (${percentOf(errors, calls)})`}</Total>
        <Total name="Average duration">{durationInWords(durationMs / calls)}</Total>
      </dl>
      <CallsOverTime usage={usage} range={range} now={now} />
      <div className="grid gap-x-8 gap-y-8 desktop:grid-cols-2">
        <ShareTable title="Slowest tools" of="Tool" shares={usage.slowest} value="averageMs" />
        <ShareTable title="Failing tools" of="Tool" shares={usage.failing} value="errors" />
        <ShareTable title="By key" of="Key" shares={usage.byKey} value="calls" />
        <ShareTable title="By skill" of="Skill" shares={usage.bySkill} value="calls" />
      </div>
    </div>
  );
}

function Total({ name, children }: { readonly name: string; readonly children: string }) {
  return (
    <div>
      <dt className="text-12 text-quiet">{name}</dt>
      <dd className="font-semibold text-20 tracking-tight">{children}</dd>
    </div>
  );
}

const hourWords = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric' });
const dayWords = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });

function CallsOverTime({
  usage,
  range,
  now,
}: {
  readonly usage: Usage;
  readonly range: UsageRange;
  readonly now: number;
}) {
  const { isByDay } = usageRanges[range];
  const bars = useMemo(
    () => bucketsOf(range, now, usage.hours).map(({ at, calls, errors }) => ({ at, value: calls, bad: errors })),
    [range, now, usage.hours],
  );
  const when = (at: number) => (isByDay ? dayWords : hourWords).format(at);
  const describe = ({ at, value, bad }: Bar) =>
    `${when(at)}: ${value.toLocaleString('en')} ${value === 1 ? 'call' : 'calls'}${bad > 0 ? `, ${bad.toLocaleString('en')} failed` : ''}`;
  return (
    <section aria-labelledby="over-time" className="grid gap-2">
      <h2 id="over-time" className="font-semibold text-14">
        {isByDay ? 'Calls by day' : 'Calls by hour'}
      </h2>
      <BarChart bars={bars} describe={describe} about="Calls, and in red those that failed" />
      <details>
        <summary className="cursor-pointer text-13 text-quiet">Show as a table</summary>
        <div
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
          tabIndex={0}
          className="mt-2 max-h-64 overflow-y-auto rounded-control border border-border bg-surface"
        >
          <table className="w-full text-13">
            <thead className="text-left text-12 text-quiet">
              <tr>
                <th scope="col" className="px-4 py-2 font-regular">
                  {isByDay ? 'Day' : 'Hour'}
                </th>
                <th scope="col" className="px-4 py-2 text-right font-regular">
                  Calls
                </th>
                <th scope="col" className="px-4 py-2 text-right font-regular">
                  Failed
                </th>
              </tr>
            </thead>
            <tbody>
              {bars
                .filter(({ value }) => value > 0)
                .map(({ at, value, bad }) => (
                  <tr key={at} className="border-border border-t">
                    <th scope="row" className="px-4 py-2 text-left font-regular">
                      {when(at)}
                    </th>
                    <td className="px-4 py-2 text-right">{value.toLocaleString('en')}</td>
                    <td className="px-4 py-2 text-right">{bad.toLocaleString('en')}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}
