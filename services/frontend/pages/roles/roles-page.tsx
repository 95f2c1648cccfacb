import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useRef } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import {
  type RoleRowFragment,
  type RolesQuery,
  rolesQuery,
  type SkillNamesQuery,
  skillNamesQuery,
} from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { onPage } from '../conflict-hint.ts';
import { PageHead } from '../page-head.tsx';
import { CreateRole } from './create-role.tsx';
import { RolePanel } from './role-panel.tsx';
import { RolesMatrix } from './roles-matrix.tsx';
import { useRoleSkills } from './use-role-skills.ts';

const from = '/w/$workspace/roles';

/** Which skills each role gives to agents, as a matrix that changes in place. */
export function RolesPage() {
  const { workspace, mayEdit } = usePlace();
  const { panel, add, skills: skillFilter = '', roles: roleFilter = '' } = useSearch({ from });
  const navigate = useNavigate({ from });
  const input = useRef<HTMLInputElement>(null);
  const show = useCallback(
    (
      search: {
        panel?: string | undefined;
        add?: boolean | undefined;
        skills?: string | undefined;
        roles?: string | undefined;
      },
      replace = false,
    ) => void navigate({ search: (before) => ({ ...before, ...search }), replace }),
    [navigate],
  );
  useShortcuts({
    '/': () => input.current?.focus(),
    c: () => mayEdit && show({ add: true }),
  });
  const roles = usePages({
    operation: rolesQuery,
    variables: useSearched(workspace.id, roleFilter),
    pageOf: (answer: RolesQuery) => answer.workspace?.roles ?? null,
  });
  const skills = usePages({
    operation: skillNamesQuery,
    variables: useSearched(workspace.id, skillFilter),
    pageOf: (answer: SkillNamesQuery) => answer.workspace?.skills ?? null,
  });
  const cells = useRoleSkills(workspace.id);
  const open = useCallback((role: RoleRowFragment) => show({ panel: role.id }), [show]);
  const error = roles.error ?? skills.error;
  const refusal = onPage(cells.refusal);
  const retry = () => {
    roles.retry();
    skills.retry();
  };
  const createButton = (
    <Button look="primary" icon="plus" onClick={() => show({ add: true })}>
      Create role
    </Button>
  );
  return (
    <>
      <PageHead
        title="Roles"
        about="Which skills agents get, and which of their tools."
        action={mayEdit && createButton}
      />
      <div className="mb-3 flex flex-wrap gap-2">
        <div className="min-w-0 flex-1 tablet:flex-none">
          <FilterField
            ref={input}
            label="Filter skills"
            value={skillFilter}
            onText={(text) => show({ skills: text || undefined }, true)}
          />
        </div>
        <div className="min-w-0 flex-1 tablet:flex-none">
          <FilterField
            label="Filter roles"
            value={roleFilter}
            onText={(text) => show({ roles: text || undefined }, true)}
          />
        </div>
      </div>
      {error !== null && (
        <div className="mb-3">
          <ErrorState error={error} onRetry={retry} />
        </div>
      )}
      {refusal !== null && (
        <div className="mb-3">
          <ErrorState error={refusal} />
        </div>
      )}
      {roles.rows === null || skills.rows === null ? (
        error === null && <Skeleton lines={8} />
      ) : roles.rows.length === 0 ? (
        roleFilter === '' ? (
          <EmptyState title="No roles yet" action={mayEdit ? createButton : undefined}>
            A role gives skills to agents. An API key uses every role, or only those that it is limited to.
          </EmptyState>
        ) : (
          <EmptyState title="No match">{`No role has a name with "${roleFilter.trim()}".`}</EmptyState>
        )
      ) : (
        <>
          <RolesMatrix
            roles={roles.rows}
            skills={skills.rows}
            hasMoreRoles={roles.hasMore}
            hasMoreSkills={skills.hasMore}
            onNeedRoles={roles.loadMore}
            onNeedSkills={skills.loadMore}
            cells={cells}
            mayEdit={mayEdit}
            openId={panel ?? null}
            onOpen={open}
          />
          {skills.rows.length === 0 && (
            <p className="px-4 py-6 text-13 text-quiet">
              {skillFilter === ''
                ? 'The workspace has no skills yet. Create one, and put it into a role here.'
                : `No skill has a name with "${skillFilter.trim()}".`}
            </p>
          )}
        </>
      )}
      {panel !== undefined && <RolePanel key={panel} id={panel} onClose={() => show({ panel: undefined })} />}
      {add === true && mayEdit && (
        <CreateRole
          onClose={() => show({ add: undefined }, true)}
          onCreated={(id) => show({ add: undefined, panel: id }, true)}
        />
      )}
    </>
  );
}

function useSearched(workspace: string, filter: string) {
  const search = filter.trim() === '' ? null : filter.trim();
  return useMemo(() => ({ workspace, search }), [workspace, search]);
}
