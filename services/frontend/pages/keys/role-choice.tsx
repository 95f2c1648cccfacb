import { useState } from 'react';
import { FilterField } from '../../components/filter-field.tsx';
import { Requirement } from '../../components/form.tsx';
import { PickList } from '../../components/pick-list.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { useRoleNames } from '../use-role-names.ts';

export interface ChosenRole {
  readonly id: string;
  readonly name: string;
}

interface RoleChoiceProps {
  /** Null: every role. */
  readonly roles: readonly ChosenRole[] | null;
  readonly onRoles: (roles: readonly ChosenRole[] | null) => void;
}

/** A list of more roles than these gets a filter. */
const unfilteredMax = 8;

const options = [
  { value: 'every', title: 'Every role, later ones too' },
  { value: 'some', title: 'Only some roles' },
] as const;

/** The roles of a key: every role of the workspace, or some. */
export function RoleChoice({ roles, onRoles }: RoleChoiceProps) {
  return (
    <RadioGroup
      legend="Roles"
      options={options}
      value={roles === null ? 'every' : 'some'}
      onValue={(value) => onRoles(value === 'every' ? null : [])}
    >
      {roles !== null && <RoleList chosen={roles} onRoles={onRoles} />}
    </RadioGroup>
  );
}

function RoleList({
  chosen,
  onRoles,
}: {
  readonly chosen: readonly ChosenRole[];
  readonly onRoles: (roles: readonly ChosenRole[]) => void;
}) {
  const known = useRoleNames();
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const shown = known.filter(({ name }) => name.toLowerCase().includes(wanted));
  const ids = new Set(chosen.map((role) => role.id));
  const toggle = ({ id, title }: { readonly id: string; readonly title: string }) =>
    onRoles(ids.has(id) ? chosen.filter((role) => role.id !== id) : [...chosen, { id, name: title }]);
  return (
    <>
      {known.length > unfilteredMax && (
        <FilterField label="Filter roles by name" value={filter} onText={setFilter} isWide />
      )}
      {known.length === 0 ? (
        <p className="text-13 text-quiet">This workspace has no roles yet.</p>
      ) : shown.length === 0 ? (
        <p className="text-13 text-quiet">{`No role has a name with "${filter.trim()}".`}</p>
      ) : (
        <PickList
          label="Roles of the key"
          options={shown.map(({ id, name, description }) => ({ id, title: name, about: description }))}
          picked={ids}
          onToggle={toggle}
        />
      )}
      <p role="status" className="text-12 text-quiet empty:hidden">
        {chosen.map(({ name }) => name).join(', ')}
      </p>
      <Requirement isMet={chosen.length > 0}>Choose at least one role.</Requirement>
    </>
  );
}
