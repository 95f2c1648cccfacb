import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from './button.tsx';

/** The details of a row beside its table; on a phone it covers the page. Esc closes it and gives the focus back. */
export function SidePanel({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  // Before the panel leaves the document, which would take the focus away.
  useLayoutEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    const onKeyDown = (event: KeyboardEvent) => {
      const isElsewhere = document.querySelector('dialog[open], [role="menu"]') !== null;
      if (event.key === 'Escape' && !isElsewhere) close.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <aside
      ref={panel}
      aria-labelledby={id}
      tabIndex={-1}
      className="fixed inset-0 z-20 flex animate-slide flex-col bg-surface outline-none tablet:inset-y-0 tablet:right-0 tablet:left-auto tablet:w-full tablet:max-w-panel tablet:border-border tablet:border-l tablet:shadow-float"
    >
      <header className="flex items-center justify-between gap-2 border-border border-b py-1 pr-2 pl-5">
        <h2 id={id} className="truncate font-semibold text-16">
          {title}
        </h2>
        <IconButton label="Close" icon="close" onClick={onClose} />
      </header>
      <div className="flex-1 overflow-y-auto px-5 py-4">{children}</div>
    </aside>
  );
}
