import { useId } from 'react';
import { durationInWords, percentOf } from './usage-buckets.ts';
import type { Share } from './use-usage.ts';

interface ShareTableProps {
  readonly title: string;
  /** What a row stands for. */
  readonly of: string;
  readonly shares: readonly Share[];
  readonly value: keyof typeof values;
}

const values = {
  calls: { title: 'Failed', text: ({ errors }: Share) => errors.toLocaleString('en') },
  errors: {
    title: 'Failed',
    text: ({ errors, calls }: Share) => `${errors.toLocaleString('en')} (${percentOf(errors, calls)})`,
  },
  averageMs: { title: 'Average', text: ({ durationMs, calls }: Share) => durationInWords(durationMs / calls) },
} as const;

/** The tools, keys or skills with the largest part of the usage. */
export function ShareTable({ title, of, shares, value }: ShareTableProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="grid min-w-0 content-start gap-2">
      <h2 id={id} className="font-semibold text-14">
        {title}
      </h2>
      {shares.length === 0 ? (
        <p className="text-13 text-quiet">None.</p>
      ) : (
        <table className="w-full table-fixed rounded-control border border-border bg-surface text-13">
          <thead className="text-12 text-quiet">
            <tr>
              <th scope="col" className="px-4 py-2 text-left font-regular">
                {of}
              </th>
              <th scope="col" className="w-20 px-4 py-2 text-right font-regular">
                Calls
              </th>
              <th scope="col" className="w-28 px-4 py-2 text-right font-regular">
                {values[value].title}
              </th>
            </tr>
          </thead>
          <tbody>
            {shares.map((share) => (
              <tr key={share.id ?? ''} className="border-border border-t">
                <th scope="row" title={share.name ?? ''} className="truncate px-4 py-2 text-left font-regular">
                  {share.name ?? <span className="text-quiet">outside of a skill</span>}
                </th>
                <td className="px-4 py-2 text-right">{share.calls.toLocaleString('en')}</td>
                <td className="px-4 py-2 text-right">{values[value].text(share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
