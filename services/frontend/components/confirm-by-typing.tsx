import { type ReactNode, useState } from 'react';
import { Field } from './field.tsx';
import { FormDialog } from './form-dialog.tsx';
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
  const rule = (text: string) => {
    if (text !== name) throw new Error(`This is not "${name}".`);
  };
  const confirm = useAction(async () => {
    await onConfirm();
    onClose();
  });
  return (
    <FormDialog {...{ title, verb, onClose }} action={confirm} look="danger">
      <p>{consequence}</p>
      {children}
      <Field label={`Type ${name} to confirm`} value={typed} onText={setTyped} rule={rule} isCode />
    </FormDialog>
  );
}
