import { useShortcuts } from '../../app/shortcuts.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Moment } from '../../components/moment.tsx';
import {
  platformRuntimesQuery,
  type RuntimesQuery,
  runtimeBusQuery,
  runtimesQuery,
} from '../../graphql/generated/operations.ts';
import { useEveryRow } from '../../graphql/use-every-row.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { PageHead } from '../page-head.tsx';
import { Part } from '../section.tsx';
import { RegisterRuntime } from './register-runtime.tsx';
import { RuntimePanel } from './runtime-panel.tsx';
import { type Runtime, RuntimeState } from './runtime-state.tsx';
import { useRuntimesNow } from './use-runtimes-now.ts';

const columns: readonly Column<Runtime>[] = [
  { title: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name, isTitle: true, share: 'wide' },
  {
    title: 'State',
    cell: ({ available }) => <RuntimeState isAvailable={available} />,
    sortBy: ({ available }) => (available ? 1 : 0),
  },
  {
    title: 'Last heartbeat',
    cell: ({ lastHeartbeatAt }) => <Moment at={lastHeartbeatAt} otherwise="never" />,
    sortBy: ({ lastHeartbeatAt }) => lastHeartbeatAt ?? 0,
  },
  {
    title: 'Running calls',
    cell: ({ runningCalls, available }) => (
      <span className="text-quiet">{available && runningCalls != null ? runningCalls : '–'}</span>
    ),
    sortBy: ({ runningCalls }) => runningCalls ?? 0,
    isLeftOutOnPhone: true,
  },
  {
    title: 'Version',
    cell: ({ versions }) => <span className="text-quiet">{versions.join(', ') || '–'}</span>,
    isLeftOutOnPhone: true,
  },
  {
    title: 'Sandbox',
    cell: ({ sandboxes }) => <span className="text-quiet">{sandboxes.join(', ') || '–'}</span>,
    isLeftOutOnPhone: true,
  },
];

/** Where MCP servers run: the platform's own runtime, and those of the workspace on other machines. */
export function RuntimesPage() {
  const { workspace, mayConfigure } = usePlace();
  const [{ panel, add }, show] = useShown('/w/$workspace/settings/runtimes');
  const variables = { workspace: workspace.id };
  const platform = useOperation(platformRuntimesQuery, variables);
  const bus = useOperation(runtimeBusQuery, variables, !mayConfigure);
  const ownList = useEveryRow({
    ...{ operation: runtimesQuery, variables },
    pageOf: (answer: RuntimesQuery) => answer.workspace?.runtimes ?? null,
  });
  const busServers = bus.data?.workspace?.busServers ?? null;
  const mayRegister = mayConfigure && busServers !== null && busServers.length > 0;
  useShortcuts({ c: () => mayRegister && show({ add: true }) });
  const retry = () => {
    platform.retry();
    ownList.retry();
  };
  const runtimes = useRuntimesNow(platform.data?.workspace?.platformRuntimes ?? null, ownList.rows);
  const error = platform.error ?? ownList.error ?? bus.error;
  const registerButton = mayRegister && (
    <Button look="primary" icon="plus" onClick={() => show({ add: true })}>
      Register runtime
    </Button>
  );
  const table = (label: string, rows: readonly Runtime[]) => (
    <DataTable label={label} columns={columns} rows={rows} onOpen={({ id }) => show({ panel: id })} openId={panel} />
  );
  return (
    <>
      <PageHead title="Runtimes" about="Where MCP servers run." action={registerButton} />
      <Loaded value={runtimes} error={error} onRetry={retry}>
        {({ shared, own }) => (
          <div className="grid gap-8">
            <Part title="Of the platform">
              {shared.length === 0 ? (
                <p className="text-quiet">The platform has no runtime yet: an operator starts it with svc up.</p>
              ) : (
                table('Runtimes of the platform', shared)
              )}
            </Part>
            <Part title="On other machines">
              {busServers?.length === 0 && (
                <p className="rounded-control border border-border bg-warn-soft px-4 py-3 text-13">
                  No runtime on another machine can connect: the bus of this platform runs inside one process. An
                  operator can move the platform, with all its data, to a bus that other machines reach. On the machine
                  of the platform: <code className="text-12">svc move --to distributed</code>
                </p>
              )}
              {own.length > 0 ? (
                table('Runtimes on other machines', own)
              ) : (
                <EmptyState title="No runtimes on other machines" action={registerButton || undefined}>
                  A runtime on another machine runs MCP servers beside the files or in the network that they need. It
                  connects to this platform, and needs no open port.
                </EmptyState>
              )}
            </Part>
          </div>
        )}
      </Loaded>
      {panel !== undefined && runtimes !== null && (
        <RuntimePanel
          key={panel}
          id={panel}
          runtime={[...runtimes.shared, ...runtimes.own].find(({ id }) => id === panel)}
          mayRegister={mayRegister}
          onClose={() => show({ panel: undefined })}
        />
      )}
      {add === true && mayRegister && (
        <RegisterRuntime known={runtimes?.own ?? []} onClose={() => show({ add: undefined }, true)} />
      )}
    </>
  );
}
