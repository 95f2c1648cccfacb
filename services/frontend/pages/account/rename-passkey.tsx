import { useState } from 'react';
import { parsePasskeyName } from '../../../contracts/names.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { renamePasskeyMutation } from '../../graphql/generated/operations.ts';

interface RenamePasskeyProps {
  readonly id: string;
  /** The present one. */
  readonly name: string;
}

/** A person names a passkey after its device, to know later which one to remove. */
export function RenamePasskey({ id, name: present }: RenamePasskeyProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)} aria-label={`Rename ${present}`}>
        Rename
      </Button>
      {isOpen && <Rename id={id} name={present} onClose={() => setOpen(false)} />}
    </>
  );
}

function Rename({ id, name: present, onClose }: RenamePasskeyProps & { readonly onClose: () => void }) {
  const [name, setName] = useState(present);
  const rename = useAction(async () => {
    await send(renamePasskeyMutation, { id, name });
    onClose();
  });
  return (
    <FormDialog title="Rename passkey" verb="Rename" action={rename} onClose={onClose}>
      <Field
        label="Name"
        hint="Such as the name of its device."
        required
        value={name}
        onText={setName}
        rule={parsePasskeyName}
      />
    </FormDialog>
  );
}
