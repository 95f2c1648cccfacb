import { useSyncExternalStore } from 'react';
import { Button, IconButton } from './button.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | null;
}

const shownMs = 8000;
/** More of them at once are read by nobody. */
const shownMax = 3;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Tells of an action that has no place of its own on the screen. */
export function showToast(text: string, undo: (() => void) | null = null): void {
  const toast = { id: ++lastId, text, undo };
  change([...toasts, toast].slice(-shownMax));
  setTimeout(() => hide(toast.id), shownMs);
}

/** The place of the toasts, once in the application. */
export function Toasts() {
  const shown = useSyncExternalStore(listen, () => toasts);
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 bottom-16 z-40 grid justify-items-center gap-2 px-4 tablet:bottom-6"
    >
      {shown.map(({ id, text, undo }) => (
        <div
          key={id}
          className="pointer-events-auto flex animate-appear items-center gap-3 rounded-control border border-border bg-surface py-1 pr-1 pl-4 text-13 shadow-float"
        >
          {text}
          {undo !== null && (
            <Button
              look="quiet"
              onClick={() => {
                undo();
                hide(id);
              }}
            >
              Undo
            </Button>
          )}
          <IconButton label="Close" icon="close" onClick={() => hide(id)} />
        </div>
      ))}
    </div>
  );
}

function hide(id: number): void {
  change(toasts.filter((toast) => toast.id !== id));
}

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
