import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorLine } from './error-state.tsx';
import { Field } from './field.tsx';
import { useAction } from './use-action.ts';

/** For what cannot be undone: the person types the name of the object. */
export function ConfirmByTyping({
  title,
  name,
  consequence,
  verb,
  children,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly name: string;
  readonly consequence: string;
  readonly verb: string;
  /** What the person decides beside it. */
  readonly children?: ReactNode;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const { run, isBusy, error } = useAction(async () => {
    await onConfirm();
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed === name) run();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <p>{consequence}</p>
        {children}
        <Field label={`Type ${name} to confirm`} value={typed} onText={setTyped} isCode />
        <ErrorLine error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" type="submit" disabled={typed !== name} isBusy={isBusy}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
