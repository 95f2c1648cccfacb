import type { ReactNode } from 'react';
import type { ShownError } from '../graphql/shown-error.ts';
import { Loaded } from './loaded.tsx';
import { SidePanel } from './side-panel.tsx';

interface DetailsPanelProps<Row> {
  readonly title: string;
  readonly of: Row | null | undefined;
  /** Whether an answer may still have the row. */
  readonly isAwaited?: boolean;
  readonly error?: ShownError | null;
  readonly onRetry?: () => void;
  /** Said where the row does not exist. */
  readonly missing: string;
  readonly onClose: () => void;
  readonly children: (row: Row) => ReactNode;
}

/** The details of a row beside its list, or why there are none. */
export function DetailsPanel<Row extends object>(props: DetailsPanelProps<Row>) {
  const { title, of: row, isAwaited = false, error = null, onRetry, missing, onClose, children } = props;
  return (
    <SidePanel title={title} onClose={onClose}>
      <Loaded value={row ?? (isAwaited ? null : undefined)} error={error} onRetry={onRetry}>
        {(found) => (found === undefined ? <p className="wrap-anywhere text-quiet">{missing}</p> : children(found))}
      </Loaded>
    </SidePanel>
  );
}
