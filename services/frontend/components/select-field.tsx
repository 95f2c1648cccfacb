import { useId } from 'react';

interface SelectFieldProps<Value extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly title: string }[];
  readonly onValue: (value: Value) => void;
}

/** One of several values, in a form. */
export function SelectField<Value extends string>({ label, hint, value, options, onValue }: SelectFieldProps<Value>) {
  const id = useId();
  return (
    <div className="grid min-w-0 content-start gap-1">
      <label htmlFor={id} className="font-medium text-13">
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
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
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-12 text-quiet">
          {hint}
        </p>
      )}
    </div>
  );
}
