import type { Ref } from 'react';

interface FilterFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly ref?: Ref<HTMLInputElement>;
  /** As wide as its surroundings. */
  readonly isWide?: boolean;
}

/** Narrows a list while a person types. Esc leaves it to the keys of the list. */
export function FilterField({ label, value, onText, ref, isWide = false }: FilterFieldProps) {
  return (
    <input
      ref={ref}
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={({ target }) => onText(target.value)}
      onKeyDown={({ key, currentTarget }) => key === 'Escape' && !isWide && currentTarget.blur()}
      className={`h-11 w-full rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-8 tablet:text-13 ${isWide ? '' : 'tablet:w-64'}`}
    />
  );
}
