import { type FormEvent, useState } from 'react';
import { parseDescription, parseName } from '../../../contracts/names.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field, problemOf } from '../../components/field.tsx';
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
  const isValid = problemOf(roleNameRule, name) === null && problemOf(parseDescription, description) === null;
  const create = useAction(async () => {
    const { createRole } = await send(createRoleMutation, { workspace: workspace.id, input: { name, description } });
    onCreated(createRole.id);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) create.run();
  };
  return (
    <Dialog title="Create role" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
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
        <ErrorLine error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={!isValid} isBusy={create.isBusy}>
            Create role
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
