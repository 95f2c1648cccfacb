import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { showToast } from '../../components/toast.tsx';
import { send } from '../../graphql/client.ts';
import { removeMemberMutation } from '../../graphql/generated/operations.ts';
import { fateOf, isAgent, type Member } from './member-words.ts';

/** Keys of a member that the page reads. A longer list was not read to its end. */
const keysShownMax = 100;

interface RemoveMemberProps {
  readonly member: Member;
  readonly members: readonly Member[];
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}

/** Asks what becomes of the keys, and says what stops. */
export function RemoveMember({ member, members, onRemoved, onClose }: RemoveMemberProps) {
  const { workspace } = usePlace();
  const [heirId, setHeir] = useState('');
  const { id, version, person, keys } = member;
  const heirs = members.filter((other) => other.id !== id && !other.suspended);
  const heir = heirs.find((other) => other.id === heirId) ?? null;
  const hasKeys = keys.some((key) => !isAgent(key));
  return (
    <ConfirmByTyping
      title={`Remove ${person.name}`}
      name={person.email}
      verb="Remove member"
      consequence={`${person.email} loses access to ${workspace.name} at once. MCP servers, skills and roles stay.`}
      onConfirm={async () => {
        await send(removeMemberMutation, {
          ...{ workspace: workspace.id, id, ifVersion: version, keysTo: heir?.id ?? null },
          ifUsedBy: keys.length < keysShownMax ? keys.map((key) => key.id) : null,
        });
        showToast(`${person.email} was removed.`);
        onRemoved();
      }}
      onClose={onClose}
    >
      {hasKeys && (
        <SelectField
          label="API keys"
          value={heirId}
          options={[
            { value: '', title: 'Revoke them' },
            ...heirs.map((other) => ({ value: other.id as string, title: `Hand them over to ${other.person.email}` })),
          ]}
          onValue={setHeir}
        />
      )}
      {keys.length === 0 ? (
        <p className="text-13 text-quiet">The member has no API keys and no connected agents.</p>
      ) : (
        <ul
          aria-label="What becomes of keys and agents"
          className="grid max-h-40 gap-1 overflow-y-auto text-13 text-quiet"
        >
          {keys.map((key) => (
            <li key={key.id} className="wrap-anywhere">
              {fateOf(key, heir)}
            </li>
          ))}
        </ul>
      )}
    </ConfirmByTyping>
  );
}
