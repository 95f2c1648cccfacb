import { createContext, type FormEvent, type ReactNode, type Ref, useContext, useState } from 'react';
import { flushSync } from 'react-dom';
import { classNames } from './class-names.ts';

const RefusedContext = createContext(false);

interface FormProps {
  readonly onSubmit: () => void;
  readonly className: string;
  readonly ref?: Ref<HTMLFormElement>;
  readonly children: ReactNode;
}

/**
 * The button of a form stays enabled while a value is wrong: pressing it shows each reason at its field, and moves the focus
 * to the first of them. A form without any change may disable its button.
 */
export function Form({ onSubmit, children, ...rest }: FormProps) {
  const [isRefused, setRefused] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    flushSync(() => setRefused(true));
    if (focusFirstProblem(form)) return;
    setRefused(false);
    onSubmit();
  };
  return (
    <RefusedContext value={isRefused}>
      <form {...rest} noValidate onSubmit={submit}>
        {children}
      </form>
    </RefusedContext>
  );
}

/** True after a form was refused: its fields say what is wrong with them, also those that were left empty. */
export function useIsRefused(): boolean {
  return useContext(RefusedContext);
}

/** False if no value of the form is wrong. */
export function focusFirstProblem(form: HTMLFormElement): boolean {
  const first = form.querySelector<HTMLElement>('[aria-invalid="true"], [data-unmet]');
  first?.focus();
  return first !== null;
}

/** What a form asks for beside its fields, such as a choice from a list. It gets the focus when the form was refused. */
export function Requirement({ isMet, children }: { readonly isMet: boolean; readonly children: ReactNode }) {
  const isProblem = useIsRefused() && !isMet;
  if (isMet) return null;
  return (
    <p data-unmet tabIndex={-1} className={classNames('text-12 outline-none', isProblem ? 'text-bad' : 'text-quiet')}>
      {children}
    </p>
  );
}
