import { useState } from 'react';
import type { MemberRole } from '../../../contracts/member-roles.ts';
import { usePlace } from '../../app/workspace.ts';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { inviteMemberMutation } from '../../graphql/generated/operations.ts';
import { ShownError } from '../../graphql/shown-error.ts';
import { roleOptions, roleWords } from './member-words.ts';
import { addressesMax, typedAddresses } from './typed-addresses.ts';

interface Refusal {
  readonly address: string;
  readonly error: ShownError;
}

function addressesRule(text: string): void {
  if (typedAddresses(text).length === 0) throw new Error('Type at least one e-mail address.');
}

/** Invites people by their addresses. What was refused stays in the field, each with its reason. */
export function InvitePeople({ onClose }: { readonly onClose: () => void }) {
  const { workspace, role: own } = usePlace();
  const [text, setText] = useState('');
  const [role, setRole] = useState<MemberRole>('viewer');
  const [refused, setRefused] = useState<readonly Refusal[]>([]);
  const addresses = typedAddresses(text);
  const isTooMany = addresses.length > addressesMax;
  const invite = useAction(async () => {
    const refusals: Refusal[] = [];
    // One after the other: a hundred at once would take the places of other requests.
    for (const email of addresses) {
      try {
        await send(inviteMemberMutation, { workspace: workspace.id, input: { email, role } });
      } catch (thrown) {
        if (!(thrown instanceof ShownError)) throw thrown;
        refusals.push({ address: email, error: thrown });
      }
    }
    const sent = addresses.length - refusals.length;
    if (sent > 0) showToast(sent === 1 ? 'One invitation was sent.' : `${sent} invitations were sent.`);
    setRefused(refusals);
    setText(refusals.map(({ address }) => address).join('\n'));
    if (refusals.length === 0) onClose();
  });
  return (
    <FormDialog
      title="Invite people"
      verb={addresses.length > 1 ? `Send ${addresses.length} invitations` : 'Send invitation'}
      action={invite}
      onClose={onClose}
    >
      <TextField
        label="E-mail addresses"
        hint="Each gets a mail with a link that is valid for seven days. Separate them by spaces, commas or lines."
        problem={isTooMany ? `These are ${addresses.length} addresses: at most ${addressesMax} at once.` : null}
        rows={4}
        inputMode="email"
        value={text}
        onText={setText}
        rule={addressesRule}
      />
      <SelectField label="Role" hint={roleWords[role]} value={role} options={roleOptions(own)} onValue={setRole} />
      {refused.length > 0 && (
        <ul role="alert" className="grid max-h-40 gap-1 overflow-y-auto rounded-control bg-bad-soft px-4 py-3 text-13">
          {refused.map(({ address, error }) => (
            <li key={address} className="wrap-anywhere">
              {[error.message, error.hint].filter(Boolean).join(' ')}
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}
