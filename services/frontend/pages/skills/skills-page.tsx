import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { List } from '../../components/list.tsx';
import { Select } from '../../components/select.tsx';
import { useDelayed } from '../../components/use-delayed.ts';
import { type SkillsQuery, skillsQuery } from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { PageHead } from '../page-head.tsx';
import { useRoleNames } from '../use-role-names.ts';
import { CreateSkill } from './create-skill.tsx';
import { SkillStatus } from './skill-state.tsx';

type Row = NonNullable<SkillsQuery['workspace']>['skills']['nodes'][number];

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
  const [{ filter = '', role, available, add }, show] = useShown('/w/$workspace/skills');
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const roles = useRoleNames();
  useShortcuts({
    '/': () => input.current?.focus(),
    c: () => mayEdit && show({ add: true }),
  });
  const search = useDelayed(filter.trim());
  const skills = usePages({
    operation: skillsQuery,
    variables: { workspace: workspace.id, search: search || null, role: role ?? null, available: available ?? null },
    pageOf: (answer: SkillsQuery) => answer.workspace?.skills ?? null,
  });
  const open = ({ id }: Row) =>
    void navigate({ to: '/w/$workspace/skills/$skill', params: { workspace: workspace.id, skill: id }, search: {} });
  const create = (
    <Button look="primary" icon="plus" onClick={() => show({ add: true })}>
      Create skill
    </Button>
  );
  const isFiltered = filter.trim() !== '' || role !== undefined || available !== undefined;
  const clear = (
    <Button onClick={() => show({ filter: undefined, role: undefined, available: undefined }, true)}>
      Clear filters
    </Button>
  );
  const none = isFiltered ? (
    <EmptyState title="No match" action={clear}>
      No skill of this workspace matches the filters.
    </EmptyState>
  ) : (
    <EmptyState title="No skills yet" action={mayEdit ? create : undefined}>
      A skill gives agents tools of MCP servers, together with instructions for their use. Roles say which agents get
      it.
    </EmptyState>
  );
  return (
    <>
      <PageHead title="Skills" about="Tools with instructions: what agents can do." action={mayEdit && create} />
      <div className="mb-3 flex flex-wrap gap-2">
        <FilterField
          ref={input}
          label="Search skills"
          value={filter}
          onText={(text) => show({ filter: text || undefined }, true)}
        />
        <Select
          label="Role"
          value={role ?? ''}
          options={[
            { value: '', title: 'All roles' },
            ...roles.map(({ id, name }) => ({ value: id, title: name })),
            ...(role === undefined || roles.some(({ id }) => id === role) ? [] : [{ value: role, title: role }]),
          ]}
          onValue={(value) => show({ role: value || undefined }, true)}
        />
        <Select
          label="Availability"
          value={available === undefined ? '' : String(available)}
          options={availabilities}
          onValue={(value) => show({ available: value === '' ? undefined : value === 'true' }, true)}
        />
      </div>
      <List label="Skills" of={skills} none={none} columns={columns} below={reasonOf} onOpen={open} />
      {add === true && mayEdit && <CreateSkill onClose={() => show({ add: undefined }, true)} />}
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
