import { useRef } from 'react';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import {
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

/** Which skills each role gives to agents, as a matrix that changes in place. */
export function RolesPage() {
  const { workspace, mayEdit } = usePlace();
  const [{ panel, add, skills: skillFilter = '', roles: roleFilter = '' }, show] = useShown('/w/$workspace/roles');
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({
    '/': () => input.current?.focus(),
    c: () => mayEdit && show({ add: true }),
  });
  const roles = usePages({
    operation: rolesQuery,
    variables: { workspace: workspace.id, search: roleFilter.trim() || null },
    pageOf: (answer: RolesQuery) => answer.workspace?.roles ?? null,
  });
  const skills = usePages({
    operation: skillNamesQuery,
    variables: { workspace: workspace.id, search: skillFilter.trim() || null },
    pageOf: (answer: SkillNamesQuery) => answer.workspace?.skills ?? null,
  });
  const cells = useRoleSkills(workspace.id);
  const sides = roles.rows && skills.rows && { roles: roles.rows, skills: skills.rows };
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
      {refusal !== null && (
        <div className="mb-3">
          <ErrorState error={refusal} />
        </div>
      )}
      <Loaded value={sides} error={error} onRetry={retry}>
        {(rows) =>
          rows.roles.length > 0 ? (
            <>
              <RolesMatrix
                roles={rows.roles}
                skills={rows.skills}
                hasMoreRoles={roles.hasMore}
                hasMoreSkills={skills.hasMore}
                onNeedRoles={roles.loadMore}
                onNeedSkills={skills.loadMore}
                cells={cells}
                mayEdit={mayEdit}
                openId={panel ?? null}
                onOpen={({ id }) => show({ panel: id })}
              />
              {rows.skills.length === 0 && (
                <p className="px-4 py-6 text-13 text-quiet">
                  {skillFilter === ''
                    ? 'The workspace has no skills yet. Create one, and put it into a role here.'
                    : `No skill has a name with "${skillFilter.trim()}".`}
                </p>
              )}
            </>
          ) : roleFilter === '' ? (
            <EmptyState title="No roles yet" action={mayEdit ? createButton : undefined}>
              A role gives skills to agents. An API key uses every role, or only those that it is limited to.
            </EmptyState>
          ) : (
            <EmptyState title="No match">{`No role has a name with "${roleFilter.trim()}".`}</EmptyState>
          )
        }
      </Loaded>
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
