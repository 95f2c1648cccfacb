import type { ReactNode } from 'react';
import type { ShownError } from '../graphql/shown-error.ts';
import { Loaded } from './loaded.tsx';
import { SidePanel } from './side-panel.tsx';

interface DetailsProps<Row> {
  readonly of: Row | null | undefined;
  /** Whether an answer may still have the row. */
  readonly isAwaited?: boolean;
  readonly error?: ShownError | null;
  readonly onRetry?: () => void;
  /** Said where the row does not exist. */
  readonly missing: string;
  readonly children: (row: Row) => ReactNode;
}

interface DetailsPanelProps<Row> extends DetailsProps<Row> {
  readonly title: string;
  readonly onClose: () => void;
}

/** The details of a row beside its list. */
export function DetailsPanel<Row extends object>({ title, onClose, ...details }: DetailsPanelProps<Row>) {
  return (
    <SidePanel title={title} onClose={onClose}>
      <Details {...details} />
    </SidePanel>
  );
}

/** The details of a row, or why there are none. */
export function Details<Row extends object>(props: DetailsProps<Row>) {
  const { of: row, isAwaited = false, error = null, onRetry, missing, children } = props;
  return (
    <Loaded value={row ?? (isAwaited ? null : undefined)} error={error} onRetry={onRetry}>
      {(found) => (found === undefined ? <p className="wrap-anywhere text-quiet">{missing}</p> : children(found))}
    </Loaded>
  );
}
