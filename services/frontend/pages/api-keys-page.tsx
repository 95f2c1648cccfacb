import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useShortcuts } from '../app/shortcuts.ts';
import { usePlace } from '../app/workspace.ts';
import { Button } from '../components/button.tsx';
import { ConfirmByTyping } from '../components/confirm-by-typing.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { RelativeTime } from '../components/relative-time.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { StatusDot } from '../components/status-dot.tsx';
import { send } from '../graphql/client.ts';
import { type KeysQuery, keysQuery, revokeKeyMutation } from '../graphql/generated/operations.ts';
import { usePages } from '../graphql/use-pages.ts';
import { CreateKey } from './create-key.tsx';
import { PageHead } from './page-head.tsx';

type Row = NonNullable<KeysQuery['workspace']>['keys']['nodes'][number];

const from = '/w/$workspace/profile/api-keys';
const idOf = ({ id }: Row) => id;
const states = {
  valid: { tone: 'good', word: 'valid' },
  expired: { tone: 'bad', word: 'Expired' },
  revoked: { tone: 'none', word: 'revoked' },
} as const;

const columns: readonly Column<Row>[] = [
  {
    title: 'Name',
    cell: ({ name }) => name || 'replaced key',
    sortBy: ({ name }) => name,
    isTitle: true,
    share: 'wide',
  },
  { title: 'Key', cell: ({ hint }) => <code className="text-12 text-quiet">{hint}</code> },
  {
    title: 'State',
    cell: ({ state }) => <StatusDot tone={states[state].tone}>{states[state].word}</StatusDot>,
    sortBy: ({ state }) => state,
  },
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} otherwise="never used" />,
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? 0,
  },
  {
    title: 'Expires',
    cell: ({ expiresAt }) => <Moment at={expiresAt} otherwise="no expiry" />,
    sortBy: ({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY,
  },
];

/** The API keys of agents in this workspace. */
export function ApiKeysPage() {
  const { workspace } = usePlace();
  const { add } = useSearch({ from });
  const navigate = useNavigate({ from });
  const setAdding = (isAdding: boolean) => void navigate({ search: isAdding ? { add: true } : {}, replace: !isAdding });
  useShortcuts({ c: () => setAdding(true) });
  const [revoking, setRevoking] = useState<Row | null>(null);
  const variables = useMemo(() => ({ workspace: workspace.id }), [workspace.id]);
  const { rows, error, hasMore, loadMore, retry } = usePages({
    operation: keysQuery,
    variables,
    pageOf: (answer: KeysQuery) => answer.workspace?.keys ?? null,
  });
  const createButton = (
    <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
      Create key
    </Button>
  );
  return (
    <>
      <PageHead
        title="API keys"
        about="An agent shows a key to connect. Open a key to revoke it."
        action={createButton}
      />
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={retry} />
        </div>
      )}
      {rows === null ? (
        error === null && <Skeleton lines={6} />
      ) : rows.length === 0 ? (
        <EmptyState title="No API keys yet" action={createButton}>
          An agent needs an API key to use the tools of this workspace. It is shown once.
        </EmptyState>
      ) : (
        <DataTable
          label="API keys"
          columns={columns}
          rows={rows}
          idOf={idOf}
          onOpen={(row) => row.state !== 'revoked' && setRevoking(row)}
          hasMore={hasMore}
          onNeedMore={loadMore}
        />
      )}
      {add === true && <CreateKey onClose={() => setAdding(false)} />}
      {revoking !== null && (
        <ConfirmByTyping
          title={`Revoke ${revoking.name || revoking.hint}`}
          name={revoking.name || revoking.hint}
          verb="Revoke key"
          consequence="Agents that use it are refused at once. A revoked key cannot be made valid again."
          onConfirm={() =>
            send(revokeKeyMutation, { workspace: workspace.id, key: revoking.id, ifVersion: revoking.version })
          }
          onClose={() => setRevoking(null)}
        />
      )}
    </>
  );
}

function Moment({ at, otherwise }: { readonly at: number | null | undefined; readonly otherwise: string }) {
  return <span className="text-quiet">{at === null || at === undefined ? otherwise : <RelativeTime at={at} />}</span>;
}
