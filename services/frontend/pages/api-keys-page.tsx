import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useShortcuts } from '../app/shortcuts.ts';
import { usePlace } from '../app/workspace.ts';
import { Button } from '../components/button.tsx';
import { ConfirmByTyping } from '../components/confirm-by-typing.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Moment } from '../components/moment.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { StatusDot } from '../components/status-dot.tsx';
import { send } from '../graphql/client.ts';
import { revokeKeyMutation } from '../graphql/generated/operations.ts';
import { CreateKey } from './create-key.tsx';
import { type OwnKey as Row, useOwnKeys } from './own-keys.ts';
import { PageHead } from './page-head.tsx';

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

/** The person's own API keys in this workspace. */
export function ApiKeysPage() {
  const { workspace } = usePlace();
  const { add } = useSearch({ from });
  const navigate = useNavigate({ from });
  const setAdding = (isAdding: boolean) => void navigate({ search: isAdding ? { add: true } : {}, replace: !isAdding });
  useShortcuts({ c: () => setAdding(true) });
  const [revoking, setRevoking] = useState<Row | null>(null);
  const { keys, error, retry } = useOwnKeys();
  const rows = keys?.filter(({ client }) => client == null) ?? null;
  const createButton = (
    <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
      Create key
    </Button>
  );
  return (
    <>
      <PageHead
        title="API keys"
        about="Yours, in this workspace. An agent shows a key to connect. Open a key to revoke it."
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
        <DataTable label="API keys" columns={columns} rows={rows} idOf={idOf} onOpen={setRevoking} />
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
