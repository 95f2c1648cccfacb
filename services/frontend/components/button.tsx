import type { ButtonHTMLAttributes, Ref } from 'react';
import { classNames } from './class-names.ts';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: keyof typeof looks;
  readonly icon?: IconName;
  /** Inside of another control. */
  readonly isSmall?: boolean;
  /** True while its action runs: it stays in place and cannot be pressed again. */
  readonly isBusy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

const looks = {
  primary: 'bg-solid text-on-solid hover:bg-solid-hover',
  secondary: 'border border-border bg-surface text-text hover:bg-hover',
  quiet: 'text-quiet hover:bg-hover hover:text-text',
  /** Leads to a question about something dangerous. */
  dangerous: 'border border-border bg-surface text-bad hover:bg-bad-soft',
  danger: 'bg-bad text-on-danger hover:opacity-90',
} as const;

export function Button({
  look = 'secondary',
  icon,
  isSmall = false,
  isBusy = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isBusy || rest.disabled || undefined}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : rest.onClick}
      className={classNames(
        'inline-flex items-center justify-center gap-2 rounded-control px-3 font-medium text-13 whitespace-nowrap transition-colors',
        'disabled:opacity-50',
        isSmall ? 'h-9 tablet:h-7' : 'h-11 tablet:h-8',
        looks[look],
        className,
      )}
    >
      {isBusy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button with a symbol alone. Its label is for screen readers and for the tooltip. */
export function IconButton({ label, icon, className, ...rest }: ButtonProps & { label: string; icon: IconName }) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={classNames(
        'inline-flex size-11 shrink-0 items-center justify-center rounded-control text-quiet transition-colors hover:bg-hover hover:text-text tablet:size-8',
        className,
      )}
    >
      <Icon name={icon} />
    </button>
  );
}

function Spinner() {
  return <span className="size-3 animate-turn rounded-dot border-2 border-current border-r-transparent" />;
}
