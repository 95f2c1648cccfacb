import { usePlace } from '../../app/workspace.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { rotateKeyMutation } from '../../graphql/generated/operations.ts';
import type { OwnKey } from './own-keys.ts';

interface RotateKeyProps {
  readonly row: OwnKey;
  readonly onRotated: (id: string, secret: string) => void;
  readonly onClose: () => void;
}

/** Asks before a new key takes the place of another. */
export function RotateKey({ row, onRotated, onClose }: RotateKeyProps) {
  const { workspace } = usePlace();
  const rotate = useAction(async () => {
    const { rotateKey } = await send(rotateKeyMutation, { workspace: workspace.id, id: row.id });
    onRotated(rotateKey.key.id, rotateKey.secret);
  });
  return (
    <FormDialog title={`Rotate ${row.name}`} verb="Rotate key" action={rotate} onClose={onClose}>
      <p>
        A new key takes over the name, the roles and the lifetime. The old key stays valid until you revoke it, so that
        agents can change one after the other.
      </p>
    </FormDialog>
  );
}
