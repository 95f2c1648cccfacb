import { useSyncExternalStore } from 'react';
import { Button, IconButton } from './button.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | null;
}

/** A toast stays longer while the pointer or the focus is on one. */
const shownMs = 8000;
/** More of them at once are read by nobody. */
const shownMax = 3;

let toasts: readonly Toast[] = [];
let lastId = 0;
const timers = new Map<number, ReturnType<typeof setTimeout>>();
const listeners = new Set<() => void>();

/** Tells of an action that has no place of its own on the screen. */
export function showToast(text: string, undo: (() => void) | null = null): void {
  const toast = { id: ++lastId, text, undo };
  for (const { id } of toasts.slice(0, Math.max(0, toasts.length + 1 - shownMax))) hide(id);
  change([...toasts, toast]);
  hideLater(toast.id);
}

/** The place of the toasts, once in the application. */
export function Toasts() {
  const shown = useSyncExternalStore(listen, () => toasts);
  return (
    <div
      role="status"
      onPointerEnter={holdAll}
      onPointerLeave={releaseAll}
      onFocus={holdAll}
      onBlur={releaseAll}
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

function hideLater(id: number): void {
  clearTimeout(timers.get(id));
  timers.set(
    id,
    setTimeout(() => hide(id), shownMs),
  );
}

function holdAll(): void {
  for (const timer of timers.values()) clearTimeout(timer);
}

function releaseAll(): void {
  for (const { id } of toasts) hideLater(id);
}

function hide(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
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
