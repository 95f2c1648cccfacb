import { useId } from 'react';
import { describedBy, Labelled } from './field.tsx';

interface SelectFieldProps<Value extends string> {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the value is refused. */
  readonly problem?: string | null;
  readonly required?: boolean;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly title: string }[];
  readonly onValue: (value: Value) => void;
}

/** One of several values, in a form. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { label, hint, problem = null, required, value, options, onValue } = props;
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} problem={problem}>
      <select
        id={id}
        value={value}
        aria-required={required}
        aria-invalid={problem !== null}
        aria-describedby={describedBy(id, hint, problem)}
        onChange={({ target }) => {
          const chosen = options.find((option) => option.value === target.value);
          if (chosen !== undefined) onValue(chosen.value);
        }}
        className="h-11 w-full min-w-0 truncate rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-9 tablet:text-14"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
    </Labelled>
  );
}
