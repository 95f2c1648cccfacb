import { useState } from 'react';
import { parseDescription, parseName } from '../../../contracts/names.ts';
import { usePlace } from '../../app/workspace.ts';
import { Field } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { createRoleMutation } from '../../graphql/generated/operations.ts';

export const roleNameRule = (text: string) => parseName('role', text);

export function CreateRole({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
}) {
  const { workspace } = usePlace();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const create = useAction(async () => {
    const { createRole } = await send(createRoleMutation, { workspace: workspace.id, input: { name, description } });
    onCreated(createRole.id);
  });
  return (
    <FormDialog title="Create role" verb="Create role" action={create} onClose={onClose}>
      <Field label="Name" value={name} onText={setName} rule={roleNameRule} />
      <Field
        label="Description"
        hint="Who it is for. You can leave it empty."
        value={description}
        onText={setDescription}
        rule={parseDescription}
      />
      <p className="text-12 text-quiet">
        Agents whose key is not limited to roles get this role as soon as it has skills.
      </p>
    </FormDialog>
  );
}
