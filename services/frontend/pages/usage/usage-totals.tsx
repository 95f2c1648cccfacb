import { durationInWords, percentOf } from './usage-buckets.ts';
import type { Usage } from './use-usage.ts';

/** Calls, those that failed, and how long one took. */
export function UsageTotals({ usage: { calls, errors, durationMs } }: { readonly usage: Usage }) {
  return (
    <dl className="flex flex-wrap gap-x-10 gap-y-2">
      <Total name="Calls">{calls.toLocaleString('en')}</Total>
      <Total name="Failed">{`${errors.toLocaleString('en')} (${percentOf(errors, calls)})`}</Total>
      {calls > 0 && <Total name="Average duration">{durationInWords(durationMs / calls)}</Total>}
    </dl>
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
