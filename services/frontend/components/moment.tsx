import { RelativeTime } from './relative-time.tsx';

/** A moment in a table, or words where there is none. */
export function Moment({ at, otherwise }: { readonly at: number | null | undefined; readonly otherwise: string }) {
  return <span className="text-quiet">{at === null || at === undefined ? otherwise : <RelativeTime at={at} />}</span>;
}
