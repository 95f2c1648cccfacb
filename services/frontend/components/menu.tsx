import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';

/** Actions behind a button. `trigger` is one button. */
export function Menu({ trigger, children }: { readonly trigger: ReactNode; readonly children: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            // An item that led to another place gave the focus to its heading.
            if (document.activeElement?.matches('h1') === true) event.preventDefault();
          }}
          className="z-30 min-w-48 animate-appear rounded-control border border-border bg-surface p-1 shadow-float"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly children: ReactNode;
  readonly isDangerous?: boolean;
  /** Marks the present one of several choices. */
  readonly isCurrent?: boolean;
}

export function MenuItem({ onSelect, children, isDangerous = false, isCurrent = false }: MenuItemProps) {
  return (
    <DropdownMenu.Item
      onSelect={onSelect}
      className={classNames(
        'flex h-11 items-center justify-between gap-4 rounded-control px-2 text-13 outline-none data-highlighted:bg-hover tablet:h-8',
        isDangerous && 'text-bad',
      )}
    >
      <span className="truncate">{children}</span>
      {isCurrent && <Icon name="check" className="text-accent" />}
    </DropdownMenu.Item>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <DropdownMenu.Label className="px-2 py-1 text-12 text-quiet">{children}</DropdownMenu.Label>;
}

export function MenuLine() {
  return <DropdownMenu.Separator className="my-1 h-px bg-border" />;
}
