import { Link } from '@tanstack/react-router';
import { useShown } from '../../app/use-shown.ts';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { List } from '../../components/list.tsx';
import { Moment } from '../../components/moment.tsx';
import { PageHead } from '../page-head.tsx';
import { ConnectedAgentPanel } from './connected-agent-panel.tsx';
import { type OwnKey, useOwnKeys } from './own-keys.ts';
import { rolesColumn } from './roles-column.tsx';

const columns: readonly Column<OwnKey>[] = [
  { title: 'Agent', cell: ({ name }) => name, sortBy: ({ name }) => name, isTitle: true },
  { title: 'Client', cell: ({ client }) => <span className="break-all text-12 text-quiet">{client}</span> },
  rolesColumn,
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
  const [{ panel, tab }, show] = useShown('/w/$workspace/profile/connected-agents');
  const { keys, error, retry } = useOwnKeys();
  const rows = keys?.filter(({ client, state }) => client != null && state === 'valid') ?? null;
  return (
    <>
      <PageHead
        title="Connected agents"
        about="They act as you, in this workspace. Open one to change its roles or to disconnect it."
      />
      <List
        label="Connected agents"
        of={{ rows, error, retry }}
        none={
          <EmptyState title="No connected agents" action={<Link to="/connect">How to connect an agent</Link>}>
            An agent that knows the address of this platform alone asks you to sign in, and then appears here.
          </EmptyState>
        }
        columns={columns}
        openId={panel}
        onOpen={({ id }) => show({ panel: id, tab: undefined })}
      />
      {panel !== undefined && rows !== null && (
        <ConnectedAgentPanel
          key={panel}
          row={rows.find(({ id }) => id === panel)}
          tab={tab}
          onTab={(next) => show({ tab: next }, true)}
          onClose={() => show({ panel: undefined, tab: undefined })}
        />
      )}
    </>
  );
}
