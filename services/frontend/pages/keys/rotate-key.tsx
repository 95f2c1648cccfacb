import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
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
    <Dialog title={`Rotate ${row.name}`} onClose={onClose}>
      <div className="grid gap-4">
        <p>
          A new key takes over the name, the roles and the lifetime. The old key stays valid until you revoke it, so
          that agents can change one after the other.
        </p>
        <ErrorLine error={rotate.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" onClick={rotate.run} isBusy={rotate.isBusy}>
            Rotate key
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
