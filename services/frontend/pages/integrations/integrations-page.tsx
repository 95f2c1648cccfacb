import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { List } from '../../components/list.tsx';
import { Moment } from '../../components/moment.tsx';
import { type IntegrationsQuery, integrationsQuery } from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { withoutCommands } from '../../graphql/without-commands.ts';
import { hostOf } from '../consent/host-of.ts';
import { PageHead } from '../page-head.tsx';
import { IntegrationPanel } from './integration-panel.tsx';
import { IntegrationStateDot } from './integration-state.tsx';

type Row = NonNullable<IntegrationsQuery['workspace']>['integrations']['nodes'][number];

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
  const [{ panel }, show] = useShown('/w/$workspace/settings/integrations');
  const integrations = usePages({
    operation: integrationsQuery,
    variables: { workspace: workspace.id },
    pageOf: (answer: IntegrationsQuery) => answer.workspace?.integrations ?? null,
  });
  return (
    <>
      <PageHead title="Integrations" about="Services that MCP servers use with your consent, by OAuth." />
      <List
        label="Integrations"
        of={integrations}
        none={
          <EmptyState title="No integrations yet">
            An MCP server with an address that asks for authorization appears here by itself. Connect it, and the
            platform keeps its token and renews it.
          </EmptyState>
        }
        columns={columns}
        below={problemOf}
        openId={panel}
        onOpen={({ id }) => show({ panel: id })}
      />
      {panel !== undefined && <IntegrationPanel key={panel} id={panel} onClose={() => show({ panel: undefined })} />}
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
