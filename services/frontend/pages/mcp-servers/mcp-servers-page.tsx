import { lazy, type ReactNode, Suspense, useRef } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { List } from '../../components/list.tsx';
import { type McpServersQuery, mcpServersQuery } from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { ConnectLink } from '../integrations/integration-state.tsx';
import { PageHead } from '../page-head.tsx';
import { McpServerPanel } from './mcp-server-panel.tsx';
import { NextRetry, repairOf, ServerHealth, ServerStatus } from './mcp-server-state.tsx';

/** Its forms are large, and needed only when an MCP server is added. */
const AddMcpServer = lazy(async () => ({ default: (await import('./add-mcp-server.tsx')).AddMcpServer }));

type Row = NonNullable<McpServersQuery['workspace']>['mcpServers']['nodes'][number];

const columns: readonly Column<Row>[] = [
  { title: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name, isTitle: true, share: 'wide' },
  {
    title: 'Status',
    cell: ({ status }) => <ServerStatus status={status} />,
    sortBy: ({ status }) => status,
  },
  {
    title: 'Health',
    cell: ({ enabled, health }) =>
      enabled ? <ServerHealth health={health} /> : <span className="text-quiet">off</span>,
    sortBy: ({ health }) => ['red', 'yellow', 'green'].indexOf(health),
  },
  { title: 'Restarts', cell: ({ restarts }) => <Restarts count={restarts} />, sortBy: ({ restarts }) => restarts },
  {
    title: 'Runtime',
    cell: ({ runtimes }) => <span className="text-quiet">{runtimes.map(({ name }) => name).join(', ') || '–'}</span>,
  },
];

/** The MCP servers of the workspace, with their states as they are now. */
export function McpServersPage() {
  const { workspace, mayConfigure } = usePlace();
  const [{ panel, tab, add, filter = '' }, show] = useShown('/w/$workspace/settings/mcp-servers');
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({
    '/': () => input.current?.focus(),
    c: () => mayConfigure && show({ add: true }),
  });
  const servers = usePages({
    operation: mcpServersQuery,
    variables: { workspace: workspace.id, search: filter.trim() || null },
    pageOf: (answer: McpServersQuery) => answer.workspace?.mcpServers ?? null,
  });
  const addButton = (
    <Button look="primary" icon="plus" onClick={() => show({ add: true })}>
      Add MCP server
    </Button>
  );
  return (
    <>
      <PageHead
        title="MCP servers"
        about={countsOf(servers.rows ?? [], servers.hasMore)}
        action={mayConfigure && addButton}
      />
      <div className="mb-3">
        <FilterField
          ref={input}
          label="Filter by name"
          value={filter}
          onText={(text) => show({ filter: text || undefined }, true)}
        />
      </div>
      <List
        label="MCP servers"
        of={servers}
        none={<NoServers filter={filter.trim()} action={mayConfigure ? addButton : undefined} />}
        columns={columns}
        below={reasonOf}
        openId={panel}
        onOpen={({ id }) => show({ panel: id, tab: undefined })}
      />
      {panel !== undefined && (
        <McpServerPanel
          key={panel}
          id={panel}
          tab={tab}
          onTab={(title) => show({ tab: title === 'Overview' ? undefined : title }, true)}
          onClose={() => show({ panel: undefined, tab: undefined })}
        />
      )}
      {add === true && mayConfigure && (
        <Suspense fallback={null}>
          <AddMcpServer
            onClose={() => show({ add: undefined }, true)}
            onAdded={(id) => show({ add: undefined, panel: id, tab: undefined }, true)}
          />
        </Suspense>
      )}
    </>
  );
}

function NoServers({ filter, action }: { readonly filter: string; readonly action: ReactNode }) {
  if (filter !== '') return <EmptyState title="No match">{`No MCP server has a name with "${filter}".`}</EmptyState>;
  return (
    <EmptyState title="No MCP servers yet" action={action}>
      An MCP server offers tools. Skills make them usable for agents, and the platform runs and watches it.
    </EmptyState>
  );
}

function Restarts({ count }: { readonly count: number }) {
  // On a phone, nothing says the same as a dash.
  if (count === 0) return <span className="hidden text-quiet tablet:inline">–</span>;
  return <span className="text-quiet">{`${count} ${count === 1 ? 'restart' : 'restarts'}`}</span>;
}

/** Why an MCP server does not work, what repairs it, and when it is tried again. */
function reasonOf(row: Row) {
  const { reason, nextRetryAt } = row;
  if (reason === null || reason === undefined) return null;
  return (
    <div className="grid gap-1 pb-3 text-13 text-quiet">
      <p className="break-words">{reason.message}</p>
      <p className="break-words text-text">
        {repairOf(reason)}
        {nextRetryAt !== null && nextRetryAt !== undefined && (
          <span className="text-quiet">
            {' '}
            <NextRetry at={nextRetryAt} />
          </span>
        )}
      </p>
      <ConnectLink server={row} />
    </div>
  );
}

function countsOf(rows: readonly Row[], hasMore: boolean): string {
  const count = (status: Row['status'], word: string) => {
    const number = rows.filter((row) => row.status === status).length;
    return number === 0 ? [] : [`${number} ${word}`];
  };
  const counts = [
    ...count('Connected', 'connected'),
    ...count('Error', rows.filter(({ status }) => status === 'Error').length === 1 ? 'error' : 'errors'),
    ...count('Disconnected', 'disconnected'),
  ];
  return counts.length === 0 ? 'Where tools come from.' : `${counts.join(' · ')}${hasMore ? ' of those loaded' : ''}`;
}
