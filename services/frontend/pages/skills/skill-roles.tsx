import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { Requirement } from '../../components/form.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { PickList } from '../../components/pick-list.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { useRoleNames } from '../use-role-names.ts';
import { setInRole, tellFailure } from './change-skill.ts';
import type { Skill } from './shown-skill.ts';
import { Lines, SkillSection } from './skill-section.tsx';

/** The roles whose agents get the skill. */
export function SkillRoles({ skill, onAdd }: { readonly skill: Skill; readonly onAdd: () => void }) {
  const { mayEdit } = usePlace();
  const add = mayEdit && (
    <Button isSmall icon="plus" onClick={onAdd}>
      Add to roles
    </Button>
  );
  return (
    <SkillSection title="Roles" action={add}>
      {skill.roles.length === 0 ? (
        <p className="text-13 text-quiet">
          No role has it, so only agents with every role of the workspace may use it.
        </p>
      ) : (
        <Lines label="Roles">
          {skill.roles.map((role) => (
            <RoleLine key={role.id} skill={skill} role={role} />
          ))}
        </Lines>
      )}
    </SkillSection>
  );
}

function RoleLine({ skill, role }: { readonly skill: Skill; readonly role: Skill['roles'][number] }) {
  const { workspace, mayEdit } = usePlace();
  const set = (has: boolean) => setInRole(workspace.id, { role: role.id, skill: skill.id, has });
  const remove = useAction(async () => {
    await set(false);
    showToast(`${role.name} is without ${skill.name}.`, () => {
      set(true).catch(tellFailure);
    });
  });
  return (
    <li className="px-3 text-13 [&+&]:border-border [&+&]:border-t">
      <div className="flex min-h-11 items-center gap-2 tablet:min-h-9">
        <span className="min-w-0 flex-1 truncate">{role.name}</span>
        {mayEdit && (
          <IconButton
            label={`Remove from ${role.name}`}
            icon="close"
            onClick={remove.run}
            aria-busy={remove.isBusy}
            className="-mr-2"
          />
        )}
      </div>
      <ErrorLine error={remove.error} />
    </li>
  );
}

export function AddToRoles({ skill, onClose }: { readonly skill: Skill; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const roles = useRoleNames();
  const [text, setText] = useState('');
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const has = new Set(skill.roles.map(({ id }) => id));
  const options = roles
    .filter(({ id, name }) => !has.has(id) && name.toLowerCase().includes(text.trim().toLowerCase()))
    .map(({ id, name, description }) => ({ id, title: name, about: description }));
  const add = useAction(async () => {
    for (const role of picked) await setInRole(workspace.id, { role, skill: skill.id, has: true });
    onClose();
  });
  return (
    <FormDialog
      title={`Add ${skill.name} to roles`}
      verb={picked.size > 1 ? `Add to ${picked.size} roles` : 'Add'}
      action={add}
      onClose={onClose}
    >
      <FilterField label="Name of a role" value={text} onText={setText} isWide />
      {options.length > 0 ? (
        <PickList
          label="Roles without the skill"
          options={options}
          picked={picked}
          onToggle={({ id }) => setPicked(picked.symmetricDifference(new Set([id])))}
        />
      ) : (
        <p className="text-13 text-quiet">
          {text.trim() === '' ? 'Every role of the workspace has the skill.' : 'No other role has this in its name.'}
        </p>
      )}
      <Requirement isMet={picked.size > 0}>Choose at least one role.</Requirement>
    </FormDialog>
  );
}
