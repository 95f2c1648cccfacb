import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import type { SkillsSearch } from '../../app/skill-search.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { Select } from '../../components/select.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useDelayed } from '../../components/use-delayed.ts';
import { type SkillsQuery, skillsQuery } from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { PageHead } from '../page-head.tsx';
import { useRoleNames } from '../use-role-names.ts';
import { CreateSkill } from './create-skill.tsx';
import { SkillStatus } from './skill-state.tsx';

type Row = NonNullable<SkillsQuery['workspace']>['skills']['nodes'][number];

const from = '/w/$workspace/skills';
const idOf = ({ id }: Row) => id;

const columns: readonly Column<Row>[] = [
  { title: 'Name', cell: ({ name }) => name, isTitle: true },
  { title: 'Description', cell: ({ description }) => <Quiet>{description}</Quiet>, share: 'wide' },
  { title: 'Status', cell: (skill) => <SkillStatus {...skill} />, share: 'narrow' },
  { title: 'Tools', cell: ({ toolCount }) => <Tools count={toolCount} />, share: 'narrow' },
  { title: 'Roles', cell: ({ roles }) => <Quiet>{roles.map(({ name }) => name).join(', ')}</Quiet> },
];

const availabilities = [
  { value: '', title: 'Available or not' },
  { value: 'true', title: 'Available' },
  { value: 'false', title: 'Unavailable' },
] as const;

/** The skills of the workspace: what agents can do, and whether they can now. */
export function SkillsPage() {
  const { workspace, mayEdit } = usePlace();
  const { filter = '', role, available, add } = useSearch({ from });
  const navigate = useNavigate({ from });
  const input = useRef<HTMLInputElement>(null);
  const roles = useRoleNames();
  const show = useCallback(
    (search: SkillsSearch, replace = true) =>
      void navigate({ search: (before) => ({ ...before, ...search }), replace }),
    [navigate],
  );
  useShortcuts({
    '/': () => input.current?.focus(),
    c: () => mayEdit && show({ add: true }, false),
  });
  const search = useDelayed(filter.trim());
  const variables = useMemo(
    () => ({
      workspace: workspace.id,
      search: search === '' ? null : search,
      role: role ?? null,
      available: available ?? null,
    }),
    [workspace.id, search, role, available],
  );
  const { rows, error, hasMore, loadMore, retry } = usePages({
    operation: skillsQuery,
    variables,
    pageOf: (answer: SkillsQuery) => answer.workspace?.skills ?? null,
  });
  // With a filter, a page may hold nothing before the last one.
  const isSearching = rows !== null && rows.length === 0 && hasMore;
  useEffect(() => {
    if (isSearching) loadMore();
  }, [isSearching, loadMore]);
  const open = useCallback(
    ({ id }: Row) =>
      void navigate({ to: '/w/$workspace/skills/$skill', params: { workspace: workspace.id, skill: id }, search: {} }),
    [navigate, workspace.id],
  );
  const create = (
    <Button look="primary" icon="plus" onClick={() => show({ add: true }, false)}>
      Create skill
    </Button>
  );
  const isFiltered = filter.trim() !== '' || role !== undefined || available !== undefined;
  const clear = (
    <Button onClick={() => show({ filter: undefined, role: undefined, available: undefined })}>Clear filters</Button>
  );
  return (
    <>
      <PageHead title="Skills" about="Tools with instructions: what agents can do." action={mayEdit && create} />
      <div className="mb-3 flex flex-wrap gap-2">
        <FilterField
          ref={input}
          label="Search skills"
          value={filter}
          onText={(text) => show({ filter: text === '' ? undefined : text })}
        />
        <Select
          label="Role"
          value={role ?? ''}
          options={[
            { value: '', title: 'All roles' },
            ...roles.map(({ id, name }) => ({ value: id, title: name })),
            ...(role === undefined || roles.some(({ id }) => id === role) ? [] : [{ value: role, title: role }]),
          ]}
          onValue={(value) => show({ role: value === '' ? undefined : value })}
        />
        <Select
          label="Availability"
          value={available === undefined ? '' : String(available)}
          options={availabilities}
          onValue={(value) => show({ available: value === '' ? undefined : value === 'true' })}
        />
      </div>
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={retry} />
        </div>
      )}
      {rows === null || isSearching ? (
        error === null && <Skeleton lines={6} />
      ) : rows.length > 0 ? (
        <DataTable
          label="Skills"
          columns={columns}
          rows={rows}
          idOf={idOf}
          onOpen={open}
          below={reasonOf}
          hasMore={hasMore}
          onNeedMore={loadMore}
        />
      ) : isFiltered ? (
        <EmptyState title="No match" action={clear}>
          No skill of this workspace matches the filters.
        </EmptyState>
      ) : (
        <EmptyState title="No skills yet" action={mayEdit ? create : undefined}>
          A skill gives agents tools of MCP servers, together with instructions for their use. Roles say which agents
          get it.
        </EmptyState>
      )}
      {add === true && mayEdit && <CreateSkill onClose={() => show({ add: undefined })} />}
    </>
  );
}

function Quiet({ children }: { readonly children: ReactNode }) {
  if (children === '') return null;
  return <span className="text-quiet">{children}</span>;
}

function Tools({ count }: { readonly count: number }) {
  return <Quiet>{`${count} ${count === 1 ? 'tool' : 'tools'}`}</Quiet>;
}

function reasonOf({ reason }: Row) {
  if (reason === null || reason === undefined) return null;
  return <p className="break-words pb-3 text-13 text-quiet">{reason.message}</p>;
}
