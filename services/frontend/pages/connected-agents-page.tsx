import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePlace } from '../app/workspace.ts';
import { ConfirmByTyping } from '../components/confirm-by-typing.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Moment } from '../components/moment.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { send } from '../graphql/client.ts';
import { revokeKeyMutation } from '../graphql/generated/operations.ts';
import { type OwnKey, useOwnKeys } from './own-keys.ts';
import { PageHead } from './page-head.tsx';

const columns: readonly Column<OwnKey>[] = [
  { title: 'Agent', cell: ({ name }) => name, sortBy: ({ name }) => name, isTitle: true, share: 'wide' },
  { title: 'Client', cell: ({ client }) => <span className="break-all text-12 text-quiet">{client}</span> },
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} otherwise="never used" />,
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? 0,
  },
  {
    title: 'Connected',
    cell: ({ createdAt }) => <Moment at={createdAt} otherwise="" />,
    sortBy: ({ createdAt }) => createdAt,
  },
];

/** The agents that the person let in by signing in. */
export function ConnectedAgentsPage() {
  const { workspace } = usePlace();
  const [cutting, setCutting] = useState<OwnKey | null>(null);
  const { keys, error, retry } = useOwnKeys();
  const rows = keys?.filter(({ client, state }) => client != null && state === 'valid') ?? null;
  return (
    <>
      <PageHead title="Connected agents" about="They act as you, in this workspace. Open one to cut it off." />
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={retry} />
        </div>
      )}
      {rows === null ? (
        error === null && <Skeleton lines={4} />
      ) : rows.length === 0 ? (
        <EmptyState title="No connected agents" action={<Link to="/connect">How to connect an agent</Link>}>
          An agent that knows the address of this platform alone asks you to sign in, and then appears here.
        </EmptyState>
      ) : (
        <DataTable label="Connected agents" columns={columns} rows={rows} idOf={({ id }) => id} onOpen={setCutting} />
      )}
      {cutting !== null && (
        <ConfirmByTyping
          title={`Cut off ${cutting.name}`}
          name={cutting.name}
          verb="Cut off"
          consequence="The agent is refused at once. It must ask you again to come back."
          onConfirm={() =>
            send(revokeKeyMutation, { workspace: workspace.id, key: cutting.id, ifVersion: cutting.version })
          }
          onClose={() => setCutting(null)}
        />
      )}
    </>
  );
}
