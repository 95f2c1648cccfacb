import { useId, useState } from 'react';
import { FilterField } from '../components/filter-field.tsx';
import { PickList } from '../components/pick-list.tsx';
import { useRoleNames } from './use-role-names.ts';

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

/** The roles of a key: every role of the workspace, or some. */
export function RoleChoice({ roles, onRoles }: RoleChoiceProps) {
  const id = useId();
  return (
    <fieldset className="grid min-w-0 gap-2">
      <legend className="mb-1 font-medium text-13">Roles</legend>
      <label className="flex min-h-11 items-center gap-3 text-13 tablet:min-h-0">
        <input
          type="radio"
          name={id}
          className="size-4 accent-solid"
          checked={roles === null}
          onChange={() => onRoles(null)}
        />
        Every role, later ones too
      </label>
      <label className="flex min-h-11 items-center gap-3 text-13 tablet:min-h-0">
        <input
          type="radio"
          name={id}
          className="size-4 accent-solid"
          checked={roles !== null}
          onChange={() => roles === null && onRoles([])}
        />
        Only some roles
      </label>
      {roles !== null && <RoleList chosen={roles} onRoles={onRoles} />}
    </fieldset>
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
      <p role="status" className="text-12 text-quiet">
        {chosen.length === 0 ? 'Choose at least one role.' : chosen.map(({ name }) => name).join(', ')}
      </p>
    </>
  );
}
