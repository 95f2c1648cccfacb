import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';
import { classNames } from './class-names.ts';

interface Described {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The backend's own rule: it throws with the message to show. Checked when the person leaves the field. */
  readonly rule?: ((text: string) => unknown) | undefined;
  /** A refusal of the backend. */
  readonly problem?: string | null | undefined;
  readonly value: string;
  readonly onText: (text: string) => void;
}

export interface FieldProps extends Described, Omit<InputHTMLAttributes<HTMLInputElement>, 'value'> {
  readonly ref?: Ref<HTMLInputElement>;
  readonly isCode?: boolean;
}

/** A line of text. */
export function Field({ label, hint, rule, problem, value, onText, isCode = false, ...rest }: FieldProps) {
  const { id, shownProblem, check, describedBy } = useDescription({ label, value, onText, hint, rule, problem });
  return (
    <Labelled id={id} label={label} hint={hint} problem={shownProblem}>
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        id={id}
        value={value}
        onChange={(event) => onText(event.target.value)}
        onBlur={check}
        aria-invalid={shownProblem !== null}
        aria-describedby={describedBy}
        className={classNames(
          'h-11 w-full rounded-control border bg-surface px-3 text-16 disabled:bg-sunken disabled:text-quiet tablet:h-9 tablet:text-14',
          isCode && 'font-mono',
          shownProblem === null ? 'border-border-strong' : 'border-bad',
        )}
      />
    </Labelled>
  );
}

export interface TextFieldProps extends Described, Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value'> {}

/** Several lines of code or text. */
export function TextField({ label, hint, rule, problem, value, onText, ...rest }: TextFieldProps) {
  const { id, shownProblem, check, describedBy } = useDescription({ label, value, onText, hint, rule, problem });
  return (
    <Labelled id={id} label={label} hint={hint} problem={shownProblem}>
      <textarea
        rows={6}
        spellCheck={false}
        {...rest}
        id={id}
        value={value}
        onChange={(event) => onText(event.target.value)}
        onBlur={check}
        aria-invalid={shownProblem !== null}
        aria-describedby={describedBy}
        className={classNames(
          'w-full rounded-control border bg-surface px-3 py-2 font-mono text-16 disabled:bg-sunken disabled:text-quiet tablet:text-13',
          shownProblem === null ? 'border-border-strong' : 'border-bad',
        )}
      />
    </Labelled>
  );
}

function useDescription({ value, rule, problem = null, hint }: Described) {
  const id = useId();
  const [left, setLeft] = useState<string | null>(null);
  // A problem disappears while it is being corrected.
  const own = left !== null && left === value && value !== '' ? problemOf(rule, value) : null;
  const shownProblem = own ?? problem;
  const describedBy = [hint && `${id}-hint`, shownProblem && `${id}-problem`].filter(Boolean).join(' ') || undefined;
  return { id, shownProblem, describedBy, check: () => setLeft(value) };
}

/** The message of the rule that a text breaks, or null. */
export function problemOf(rule: ((text: string) => unknown) | undefined, text: string): string | null {
  try {
    rule?.(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function Labelled({
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
        <p id={`${id}-hint`} className="text-12 text-quiet">
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
