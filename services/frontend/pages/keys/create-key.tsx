import { useState } from 'react';
import { parseName } from '../../../contracts/names.ts';
import { usePlace } from '../../app/workspace.ts';
import { Field } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { createKeyMutation } from '../../graphql/generated/operations.ts';
import { ExpiryField } from './expiry-field.tsx';
import { momentOf, noExpiry } from './key-expiry.ts';
import { NewKey } from './new-key.tsx';
import { type ChosenRole, RoleChoice } from './role-choice.tsx';

export const keyNameRule = (text: string) => parseName('key', text);

/** Asks for a name, roles and an expiry, then shows the new key once. */
export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const [name, setName] = useState('');
  const [roles, setRoles] = useState<readonly ChosenRole[] | null>(null);
  const [expiry, setExpiry] = useState(noExpiry);
  const [secret, setSecret] = useState<string | null>(null);
  const create = useAction(async () => {
    const { createKey } = await send(createKeyMutation, {
      workspace: workspace.id,
      input: {
        name: name.trim(),
        roles: roles?.map(({ id }) => id) ?? null,
        expiresAt: momentOf(expiry, Date.now()) ?? null,
      },
    });
    setSecret(createKey.secret);
  });
  if (secret !== null) return <NewKey name={name.trim()} secret={secret} onClose={onClose} />;
  return (
    <FormDialog title="Create API key" verb="Create key" action={create} onClose={onClose}>
      <p className="text-13 text-quiet">{`For the workspace ${workspace.name}.`}</p>
      <Field label="Name" hint="Such as the name of the agent." value={name} onText={setName} rule={keyNameRule} />
      <RoleChoice roles={roles} onRoles={setRoles} />
      <ExpiryField expiry={expiry} onExpiry={(chosen) => setExpiry(chosen ?? noExpiry)} />
    </FormDialog>
  );
}
