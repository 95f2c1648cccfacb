import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { describeChanges, parseChanges } from '../../../contracts/activity-changes.ts';
import { actionInWords } from '../../../contracts/activity-words.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { Moment } from '../../components/moment.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { type ActivityQuery, activityQuery } from '../../graphql/generated/operations.ts';
import { useLog } from '../../graphql/use-log.ts';
import { PageHead } from '../page-head.tsx';
import { placeOfObject } from './place-of-object.ts';

type Row = NonNullable<ActivityQuery['workspace']>['activity']['nodes'][number];

const from = '/w/$workspace/activity';
const idOf = ({ id }: Row) => id;

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
  const { filter = '' } = useSearch({ from });
  const navigate = useNavigate({ from });
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => input.current?.focus() });
  const wanted = filter.trim();
  const variables = useMemo(
    () => ({ workspace: workspace.id, search: wanted === '' ? null : wanted }),
    [workspace.id, wanted],
  );
  const { rows, error, hasMore, loadMore, retry } = useLog({
    operation: activityQuery,
    variables,
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
          onText={(text) => void navigate({ search: text === '' ? {} : { filter: text }, replace: true })}
        />
      </div>
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={retry} />
        </div>
      )}
      {rows === null ? (
        error === null && <Skeleton lines={8} />
      ) : rows.length === 0 ? (
        <NoChanges filter={wanted} hasMore={hasMore} />
      ) : (
        <DataTable
          label="Activity"
          columns={columns}
          rows={rows}
          idOf={idOf}
          onOpen={open}
          below={changesOf}
          hasMore={hasMore && wanted === ''}
          onNeedMore={loadMore}
        />
      )}
      {wanted !== '' && hasMore && rows !== null && (
        <div className="mt-3 flex justify-center">
          <Button onClick={loadMore}>Search older changes</Button>
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
