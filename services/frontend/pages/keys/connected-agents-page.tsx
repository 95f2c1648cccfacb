import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Moment } from '../../components/moment.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { PageHead } from '../page-head.tsx';
import { ConnectedAgentPanel } from './connected-agent-panel.tsx';
import { type OwnKey, rolesInWords, useOwnKeys } from './own-keys.ts';

const from = '/w/$workspace/profile/connected-agents';

const columns: readonly Column<OwnKey>[] = [
  { title: 'Agent', cell: ({ name }) => name, sortBy: ({ name }) => name, isTitle: true },
  { title: 'Client', cell: ({ client }) => <span className="break-all text-12 text-quiet">{client}</span> },
  {
    title: 'Roles',
    cell: (row) => (
      <span className="text-quiet" title={rolesInWords(row)}>
        {rolesInWords(row)}
      </span>
    ),
    sortBy: rolesInWords,
  },
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
  const { panel, tab } = useSearch({ from });
  const navigate = useNavigate({ from });
  const show = (id: string | undefined) => void navigate({ search: id === undefined ? {} : { panel: id } });
  const { keys, error, retry } = useOwnKeys();
  const rows = keys?.filter(({ client, state }) => client != null && state === 'valid') ?? null;
  return (
    <>
      <PageHead
        title="Connected agents"
        about="They act as you, in this workspace. Open one to change its roles or to disconnect it."
      />
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
        <DataTable
          label="Connected agents"
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          onOpen={({ id }) => show(id)}
          openId={panel ?? null}
        />
      )}
      {panel !== undefined && rows !== null && (
        <ConnectedAgentPanel
          key={panel}
          row={rows.find(({ id }) => id === panel)}
          tab={tab}
          onTab={(next) => void navigate({ search: { panel, tab: next }, replace: true })}
          onClose={() => show(undefined)}
        />
      )}
    </>
  );
}
