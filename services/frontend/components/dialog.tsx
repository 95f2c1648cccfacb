import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from './button.tsx';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/**
 * A question above the page. The browser's own dialog keeps the focus inside, gives it back, and closes with Esc. It
 * stays in the document only while it is open.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      className="m-auto mt-16 max-h-[80dvh] w-full max-w-dialog animate-appear wrap-anywhere overflow-y-auto rounded-control border border-border bg-surface text-text shadow-float"
    >
      <header className="flex items-start justify-between gap-2 py-2 pr-2 pl-5">
        <h2 id={id} className="min-w-0 py-2.5 font-semibold text-16 tablet:py-1">
          {title}
        </h2>
        <IconButton label="Close" icon="close" onClick={() => dialog.current?.close()} />
      </header>
      <div className="px-5 pb-5">{children}</div>
    </dialog>
  );
}

/** Opens the dialog that gets the result as its `ref`, with the focus in its first field. */
export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  // A dialog that has left the document gives no focus back, so it is closed before.
  useLayoutEffect(() => {
    const { current } = dialog;
    if (current === null || current.open) return;
    current.showModal();
    current.querySelector<HTMLElement>('input, textarea')?.focus();
    return () => current.close();
  }, []);
  return dialog;
}
