interface SelectProps {
  /** For screen readers: the present option says enough to others. */
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly title: string }[];
  readonly onValue: (value: string) => void;
}

/** One of several values, in a line of filters. */
export function Select({ label, value, options, onValue }: SelectProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onValue(target.value)}
      className="h-11 min-w-0 max-w-full truncate rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-8 tablet:max-w-64 tablet:px-2 tablet:text-13"
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.title}
        </option>
      ))}
    </select>
  );
}
