import { Link } from '@tanstack/react-router';
import { findUsageRange, type UsageRange, usageRanges } from '../../app/usage-range.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Select } from '../../components/select.tsx';
import { PageHead } from '../page-head.tsx';
import { CallsOverTime } from './calls-over-time.tsx';
import { ShareTable } from './share-table.tsx';
import { UsageTotals } from './usage-totals.tsx';
import { type Usage, useUsage } from './use-usage.ts';

const options = Object.entries(usageRanges).map(([value, { title }]) => ({ value, title: `Last ${title}` }));

/** The calls of agents: when, how long, how many failed, with which keys and skills. */
export function UsagePage() {
  const { workspace } = usePlace();
  const [{ range = '7d' }, show] = useShown('/w/$workspace/settings/usage');
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
            onValue={(value) => show({ range: findUsageRange(value) }, true)}
          />
        }
      />
      <Loaded value={usage} error={error} onRetry={retry}>
        {(sums) =>
          sums.calls > 0 ? (
            <Sums usage={sums} range={range} now={now} />
          ) : (
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
          )
        }
      </Loaded>
    </>
  );
}

function Sums({ usage, range, now }: { readonly usage: Usage; readonly range: UsageRange; readonly now: number }) {
  return (
    <div className="grid gap-8">
      {!usage.isComplete && (
        <p className="rounded-control bg-warn-soft px-4 py-3 text-13">
          There are more records than one sum reads. The earliest calls are left out; a shorter range has all.
        </p>
      )}
      <UsageTotals usage={usage} />
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
