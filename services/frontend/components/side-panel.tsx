import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { IconButton } from './button.tsx';

/**
 * The details of a row. It stands beside the page on a wide screen (app.css), so that one continues with other rows. Elsewhere
 * it covers a part of the page or all of it, and the page is inert. Esc closes it and gives the focus back.
 */
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
  const scrim = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  // Before the panel leaves the document, which would take the focus away.
  useLayoutEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    const page = document.querySelector<HTMLElement>('#root');
    const coverPage = () => page?.toggleAttribute('inert', scrim.current?.checkVisibility() ?? false);
    coverPage();
    window.addEventListener('resize', coverPage);
    const onKeyDown = (event: KeyboardEvent) => {
      const isElsewhere = document.querySelector('dialog[open], [role="menu"]') !== null;
      if (event.key === 'Escape' && !isElsewhere) close.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      window.removeEventListener('resize', coverPage);
      page?.removeAttribute('inert');
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return createPortal(
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: Esc closes the panel, too */}
      <div ref={scrim} onClick={onClose} className="fixed inset-0 z-20 animate-appear bg-scrim wide:hidden" />
      <aside
        ref={panel}
        aria-labelledby={id}
        tabIndex={-1}
        className="fixed inset-0 z-20 flex animate-slide flex-col bg-surface outline-none tablet:right-0 tablet:left-auto tablet:w-full tablet:max-w-panel tablet:border-border tablet:border-l tablet:max-wide:shadow-float"
      >
        <header className="flex items-center justify-between gap-2 border-border border-b py-1 pr-2 pl-5">
          <h2 id={id} className="truncate font-semibold text-16">
            {title}
          </h2>
          <IconButton label="Close" icon="close" onClick={onClose} />
        </header>
        <div className="flex-1 overflow-y-auto px-5 py-4">{children}</div>
      </aside>
    </>,
    document.body,
  );
}
