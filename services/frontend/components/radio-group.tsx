import { type ReactNode, useId } from 'react';

interface RadioGroupProps<Value extends string> {
  readonly legend: string;
  readonly options: readonly RadioOption<Value>[];
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  /** What the chosen option asks further. */
  readonly children?: ReactNode;
}

export interface RadioOption<Value extends string> {
  readonly value: Value;
  readonly title: string;
  /** What it means. */
  readonly about?: string;
}

/** One of a few options that are all visible; for more of them there is `SelectField`. */
export function RadioGroup<Value extends string>(props: RadioGroupProps<Value>) {
  const { legend, options, value, onValue, children } = props;
  const name = useId();
  return (
    <fieldset className="grid min-w-0 gap-1">
      <legend className="mb-1 font-medium text-13">{legend}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="flex min-h-11 items-center gap-3 py-1 text-14 tablet:min-h-8 tablet:text-13"
        >
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onValue(option.value)}
            className="size-4 shrink-0 accent-solid"
          />
          <span className="min-w-0">
            {option.title}
            {option.about !== undefined && <span className="block text-12 text-quiet">{option.about}</span>}
          </span>
        </label>
      ))}
      {children}
    </fieldset>
  );
}
