import { Link, useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { describeChanges, parseChanges } from '../../../contracts/activity-changes.ts';
import { actionInWords } from '../../../contracts/activity-words.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { List } from '../../components/list.tsx';
import { Moment } from '../../components/moment.tsx';
import { type ActivityQuery, activityQuery } from '../../graphql/generated/operations.ts';
import { useLog } from '../../graphql/use-log.ts';
import { PageHead } from '../page-head.tsx';
import { placeOfObject } from './place-of-object.ts';

type Row = NonNullable<ActivityQuery['workspace']>['activity']['nodes'][number];

function whatOf({ action, subjectKind, subjectName }: Row): string {
  const words = actionInWords({ action, subjectKind, subject: subjectName });
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const columns: readonly Column<Row>[] = [
  {
    title: 'What',
    cell: (row) => <span title={whatOf(row)}>{whatOf(row)}</span>,
    share: 'wide',
    isTitle: true,
  },
  { title: 'Who', cell: ({ actorName }) => <span title={actorName}>{actorName}</span> },
  { title: 'When', cell: ({ at }) => <Moment at={at} otherwise="" />, share: 'narrow' },
];

/** Who changed what, the latest first. */
export function ActivityPage() {
  const { workspace, viewer } = usePlace();
  const [{ filter = '' }, show] = useShown('/w/$workspace/activity');
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => input.current?.focus() });
  const wanted = filter.trim();
  const changes = useLog({
    operation: activityQuery,
    variables: { workspace: workspace.id, search: wanted || null },
    pageOf: (answer: ActivityQuery) => answer.workspace?.activity ?? null,
  });
  const open = (row: Row) => {
    const place = placeOfObject(row, viewer);
    if (place !== null) void navigate({ href: `/w/${workspace.id}${place}` });
  };
  return (
    <>
      <PageHead
        title="Activity"
        about={
          <>
            Who changed what. Calls of tools are in{' '}
            <Link
              to="/w/$workspace/settings/usage"
              params={{ workspace: workspace.id }}
              className="text-accent underline"
            >
              Usage
            </Link>
            .
          </>
        }
      />
      <div className="mb-3">
        <FilterField
          ref={input}
          label="Filter by person, action or name"
          value={filter}
          onText={(text) => show({ filter: text || undefined }, true)}
        />
      </div>
      <List
        label="Activity"
        of={{ ...changes, hasMore: changes.hasMore && wanted === '' }}
        none={<NoChanges filter={wanted} hasMore={changes.hasMore} />}
        columns={columns}
        below={changesOf}
        onOpen={open}
      />
      {wanted !== '' && changes.hasMore && (
        <div className="mt-3 flex justify-center">
          <Button onClick={changes.loadMore}>Search older changes</Button>
        </div>
      )}
    </>
  );
}

function NoChanges({ filter, hasMore }: { readonly filter: string; readonly hasMore: boolean }) {
  if (filter === '') {
    return (
      <EmptyState title="No changes yet">Every change of skills, roles, keys and MCP servers is kept here.</EmptyState>
    );
  }
  return (
    <EmptyState title="No match">
      {`${hasMore ? 'None of the latest changes has' : 'No change has'} "${filter}" in its person, action or name.`}
    </EmptyState>
  );
}

/** What an update changed. Only an update has values before and after. */
function changesOf({ action, changes }: Row) {
  const told = action === 'update' ? describeChanges(parseChanges(changes)) : '';
  return told !== '' && <p className="line-clamp-3 break-words pb-3 text-13 text-quiet">{told}</p>;
}
