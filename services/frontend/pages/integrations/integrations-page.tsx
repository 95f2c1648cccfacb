import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Moment } from '../../components/moment.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { type IntegrationsQuery, integrationsQuery } from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { withoutCommands } from '../../graphql/without-commands.ts';
import { hostOf } from '../consent/host-of.ts';
import { PageHead } from '../page-head.tsx';
import { IntegrationPanel } from './integration-panel.tsx';
import { IntegrationStateDot } from './integration-state.tsx';

type Row = NonNullable<IntegrationsQuery['workspace']>['integrations']['nodes'][number];

const from = '/w/$workspace/settings/integrations';
const idOf = ({ id }: Row) => id;
const order: readonly Row['state'][] = ['expired', 'needs_authorization', 'connected'];

/** On a phone, nothing says the same. */
const none = <span className="hidden text-quiet tablet:inline">–</span>;

const columns: readonly Column<Row>[] = [
  {
    title: 'MCP server',
    cell: ({ mcpServer }) => mcpServer?.name ?? '–',
    sortBy: ({ mcpServer }) => mcpServer?.name ?? '',
    isTitle: true,
    share: 'wide',
  },
  {
    title: 'State',
    cell: ({ state }) => <IntegrationStateDot state={state} />,
    sortBy: ({ state }) => order.indexOf(state),
  },
  {
    title: 'Provider',
    cell: ({ issuer }) => (issuer === null ? none : <span className="text-quiet">{hostOf(issuer)}</span>),
    sortBy: ({ issuer }) => issuer ?? '',
  },
  {
    title: 'Scopes',
    cell: ({ scopes }) => (scopes.length === 0 ? none : <span className="text-quiet">{scopes.join(' ')}</span>),
  },
  {
    title: 'Token ends',
    cell: ({ expiresAt }) => (expiresAt === null ? none : <Moment at={expiresAt} otherwise="–" />),
    sortBy: ({ expiresAt }) => expiresAt ?? 0,
  },
];

/** The services that MCP servers use with the consent of a person. */
export function IntegrationsPage() {
  const { workspace } = usePlace();
  const { panel } = useSearch({ from });
  const navigate = useNavigate({ from });
  const show = useCallback((id: string | undefined) => void navigate({ search: { panel: id } }), [navigate]);
  const open = useCallback((row: Row) => show(row.id), [show]);
  const variables = useMemo(() => ({ workspace: workspace.id }), [workspace.id]);
  const { rows, error, hasMore, loadMore, retry } = usePages({
    operation: integrationsQuery,
    variables,
    pageOf: (answer: IntegrationsQuery) => answer.workspace?.integrations ?? null,
  });
  return (
    <>
      <PageHead title="Integrations" about="Services that MCP servers use with your consent, by OAuth." />
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={retry} />
        </div>
      )}
      {rows === null ? (
        error === null && <Skeleton lines={4} />
      ) : rows.length === 0 ? (
        <EmptyState title="No integrations yet">
          An MCP server with an address that asks for authorization appears here by itself. Connect it, and the platform
          keeps its token and renews it.
        </EmptyState>
      ) : (
        <DataTable
          label="Integrations"
          columns={columns}
          rows={rows}
          idOf={idOf}
          onOpen={open}
          openId={panel ?? null}
          below={problemOf}
          hasMore={hasMore}
          onNeedMore={loadMore}
        />
      )}
      {panel !== undefined && <IntegrationPanel key={panel} id={panel} onClose={() => show(undefined)} />}
    </>
  );
}

function problemOf({ problem }: Row) {
  if (problem === null) return null;
  return (
    <div className="grid gap-1 pb-3 text-13 text-quiet">
      <p className="break-words">{problem.message}</p>
      <p className="break-words text-text">{withoutCommands(problem.repair)}</p>
    </div>
  );
}
