import type { KeyboardEvent, Ref } from 'react';

interface FilterFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly ref?: Ref<HTMLInputElement>;
  /** As wide as its surroundings. */
  readonly isWide?: boolean;
}

/** Narrows a list while a person types. Esc leads to the list and its keys. */
export function FilterField({ label, value, onText, ref, isWide = false }: FilterFieldProps) {
  return (
    <input
      ref={ref}
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={({ target }) => onText(target.value)}
      onKeyDown={isWide ? undefined : leaveToList}
      className={`h-11 w-full rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-8 tablet:text-13 ${isWide ? '' : 'tablet:w-64'}`}
    />
  );
}

/** The filter stays, although a browser would empty the field. While the list is loading, the heading gets the focus. */
function leaveToList(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  const main = event.currentTarget.closest('main');
  const list = main?.querySelector<HTMLElement>('[role="grid"]') ?? main?.querySelector<HTMLElement>('h1');
  list?.focus();
}
