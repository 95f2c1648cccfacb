import { useShortcuts } from '../../app/shortcuts.ts';
import { useShown } from '../../app/use-shown.ts';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { List } from '../../components/list.tsx';
import { Moment } from '../../components/moment.tsx';
import { PageHead } from '../page-head.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyPanel } from './key-panel.tsx';
import { KeyState } from './key-state.tsx';
import { type OwnKey as Row, replacedIds, useOwnKeys } from './own-keys.ts';
import { rolesColumn } from './roles-column.tsx';

const columns: readonly Column<Row>[] = [
  {
    title: 'Name',
    cell: ({ name }) => <span title={name}>{name}</span>,
    sortBy: ({ name }) => name,
    share: 'wide',
    isTitle: true,
  },
  { title: 'Key', cell: ({ hint }) => <code className="text-12 text-quiet">{hint}</code> },
  {
    title: 'State',
    cell: ({ state }) => <KeyState state={state} />,
    sortBy: ({ state }) => state,
    share: 'narrow',
  },
  rolesColumn,
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => (
      <>
        {lastUsedAt !== null && <span className="text-quiet tablet:hidden">used </span>}
        <Moment at={lastUsedAt} otherwise="never used" />
      </>
    ),
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? 0,
  },
  {
    title: 'Expires',
    cell: ({ expiresAt }) => (
      <>
        {expiresAt !== null && <span className="text-quiet tablet:hidden">expires </span>}
        <Moment at={expiresAt} otherwise="no expiry" />
      </>
    ),
    sortBy: ({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY,
  },
];

/** The person's own API keys in this workspace. */
export function ApiKeysPage() {
  const [{ panel, tab, add }, show] = useShown('/w/$workspace/profile/api-keys');
  useShortcuts({ c: () => show({ add: true }) });
  const { keys, error, retry } = useOwnKeys();
  const rows = keys?.filter(({ client }) => client == null) ?? null;
  const replaced = replacedIds(rows ?? []);
  const createButton = (
    <Button look="primary" icon="plus" onClick={() => show({ add: true })}>
      Create key
    </Button>
  );
  return (
    <>
      <PageHead
        title="API keys"
        about="Yours, in this workspace. An agent shows a key to connect."
        action={createButton}
      />
      <List
        label="API keys"
        of={{ rows, error, retry }}
        none={
          <EmptyState title="No API keys yet" action={createButton}>
            An agent needs an API key to use the tools of this workspace. It is shown once.
          </EmptyState>
        }
        columns={columns}
        below={({ id }) =>
          replaced.has(id) && <p className="pb-3 text-13 text-quiet">A newer key of this name replaces it.</p>
        }
        openId={panel}
        onOpen={({ id }) => show({ panel: id, tab: undefined })}
      />
      {add === true && <CreateKey onClose={() => show({ add: undefined }, true)} />}
      {panel !== undefined && rows !== null && (
        <KeyPanel
          key={panel}
          row={rows.find(({ id }) => id === panel)}
          isReplaced={replaced.has(panel)}
          tab={tab}
          onTab={(next) => show({ tab: next }, true)}
          onShow={(id) => show({ panel: id, tab: undefined }, true)}
          onClose={() => show({ panel: undefined, tab: undefined })}
        />
      )}
    </>
  );
}
