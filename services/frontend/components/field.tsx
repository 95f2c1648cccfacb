import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';
import { classNames } from './class-names.ts';
import { useIsRefused } from './form.tsx';

type Rule = (text: string) => unknown;

interface Described {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The backend's own rule: it throws with the message to show. Checked when the person leaves the field or sends its form. */
  readonly rule?: Rule | undefined;
  /** Refuses an empty text, where the rule would not. */
  readonly required?: boolean | undefined;
  /** A refusal of the backend. */
  readonly problem?: string | null | undefined;
  readonly value: string;
  readonly onText: (text: string) => void;
}

export interface FieldProps extends Described, Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'required'> {
  readonly ref?: Ref<HTMLInputElement>;
  readonly isCode?: boolean;
}

/** A line of text. */
export function Field({ isCode = false, ...props }: FieldProps) {
  const { labelled, control, rest } = useDescription(props);
  return (
    <Labelled {...labelled}>
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        {...control}
        className={classNames(
          'h-11 w-full rounded-control border bg-surface px-3 text-16 disabled:bg-sunken disabled:text-quiet tablet:h-9 tablet:text-14',
          isCode && 'font-mono',
          labelled.problem === null ? 'border-border-strong' : 'border-bad',
        )}
      />
    </Labelled>
  );
}

export interface TextFieldProps
  extends Described,
    Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'required'> {}

/** Several lines of code or text. */
export function TextField(props: TextFieldProps) {
  const { labelled, control, rest } = useDescription(props);
  return (
    <Labelled {...labelled}>
      <textarea
        rows={6}
        spellCheck={false}
        {...rest}
        {...control}
        className={classNames(
          'w-full rounded-control border bg-surface px-3 py-2 font-mono text-16 disabled:bg-sunken disabled:text-quiet tablet:text-13',
          labelled.problem === null ? 'border-border-strong' : 'border-bad',
        )}
      />
    </Labelled>
  );
}

/** Divides the properties of a field: those of its label, those that join the control to it, and the others. */
function useDescription<Rest extends object>(props: Described & Rest) {
  const { label, hint, rule, required = false, problem = null, value, onText, ...rest } = props;
  const id = useId();
  const [left, setLeft] = useState<string | null>(null);
  const isRefused = useIsRefused();
  // Before the form is sent, a problem disappears while it is being corrected, and an empty field is only unfinished.
  const isChecked = isRefused || (left === value && value !== '');
  const own = isChecked ? problemOfField(value, rule, required) : null;
  const shown = own ?? problem;
  return {
    labelled: { id, label, hint, problem: shown },
    control: {
      ...{ id, value, required, 'aria-invalid': shown !== null, 'aria-describedby': describedBy(id, hint, shown) },
      onChange: ({ target }: { readonly target: { readonly value: string } }) => onText(target.value),
      onBlur: ({ relatedTarget }: { readonly relatedTarget: EventTarget | null }) => {
        // A problem that appeared now would move the button away from below the pointer.
        if (!(relatedTarget instanceof HTMLButtonElement)) setLeft(value);
      },
    },
    rest,
  };
}

/** The ids of the texts of `Labelled`. */
export function describedBy(id: string, hint: string | undefined, problem: string | null): string | undefined {
  return [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined;
}

function problemOfField(text: string, rule: Rule | undefined, required: boolean): string | null {
  const broken = problemOf(rule, text);
  return text.trim() === '' && (required || broken !== null) ? 'This field must not be empty.' : broken;
}

/** The message of the rule that a text breaks, or null. */
export function problemOf(rule: Rule | undefined, text: string): string | null {
  try {
    rule?.(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A control with its label, its hint and its problem. */
export function Labelled({
  id,
  label,
  hint,
  problem,
  children,
}: {
  readonly id: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly problem: string | null;
  readonly children: ReactNode;
}) {
  return (
    <div className="grid min-w-0 content-start gap-1">
      <label htmlFor={id} className="font-medium text-13">
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="break-words text-12 text-quiet">
          {hint}
        </p>
      )}
      {problem !== null && (
        <p id={`${id}-problem`} className="text-12 text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}
