import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorLine } from './error-state.tsx';
import { Form } from './form.tsx';
import type { Action } from './use-action.ts';

interface FormDialogProps {
  readonly title: string;
  /** The fields, or a question. */
  readonly children: ReactNode;
  /** What the button of the form does. */
  readonly verb: string;
  readonly action: Action;
  readonly look?: 'primary' | 'danger';
  readonly cancel?: string;
  readonly onClose: () => void;
}

/** Asks for something in a dialog, does it, and says why it was refused. */
export function FormDialog(props: FormDialogProps) {
  const { title, children, verb, action, look = 'primary', cancel = 'Cancel', onClose } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={action.run} className="grid gap-4">
        {children}
        <ErrorLine error={action.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{cancel}</Button>
          <Button look={look} type="submit" isBusy={action.isBusy}>
            {verb}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
