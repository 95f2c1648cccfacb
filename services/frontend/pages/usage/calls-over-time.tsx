import { useMemo } from 'react';
import { type UsageRange, usageRanges } from '../../app/usage-range.ts';
import { type Bar, BarChart } from '../../components/bar-chart.tsx';
import { bucketsOf } from './usage-buckets.ts';
import type { Usage } from './use-usage.ts';

const hourWords = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric' });
const dayWords = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });

/** The calls of a range as bars, and as a table. */
export function CallsOverTime({
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
