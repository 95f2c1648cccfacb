import { type RefObject, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
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

/** The place of the toasts, once in the application: below the page, or above it while the focus is there. */
export function Toasts() {
  const shown = useSyncExternalStore(listen, () => toasts);
  const place = useRef<HTMLDivElement>(null);
  useClearOfFocus(place, shown);
  // A page below an open panel is inert. Its toasts are not.
  return createPortal(
    <div
      ref={place}
      role="status"
      onPointerEnter={holdAll}
      onPointerLeave={releaseAll}
      onFocus={holdAll}
      onBlur={releaseAll}
      className="pointer-events-none fixed inset-x-0 bottom-16 z-40 grid justify-items-center gap-2 px-4 data-above:top-16 data-above:bottom-auto tablet:not-data-above:bottom-6"
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
    </div>,
    document.body,
  );
}

/** Everything that moves the focus, its active row, or the control that has it. */
const movements = ['focusin', 'keyup', 'scroll', 'resize'] as const;

/** A toast never covers the control with the focus (WCAG 2.2, 2.4.11): it goes to the other edge of the window. */
function useClearOfFocus(place: RefObject<HTMLDivElement | null>, shown: readonly Toast[]): void {
  useLayoutEffect(() => {
    const { current } = place;
    if (current === null || shown.length === 0) return current?.removeAttribute('data-above');
    const clear = () => {
      if (!coversFocus(current)) return;
      current.toggleAttribute('data-above');
      // A control that reaches from one edge to the other is seen between them.
      if (coversFocus(current)) current.toggleAttribute('data-above');
    };
    clear();
    for (const movement of movements) window.addEventListener(movement, clear, true);
    return () => {
      for (const movement of movements) window.removeEventListener(movement, clear, true);
    };
  }, [place, shown]);
}

function coversFocus(place: HTMLElement): boolean {
  const focused = document.activeElement;
  if (focused === null || focused === document.body || place.contains(focused)) return false;
  const active = document.getElementById(focused.getAttribute('aria-activedescendant') ?? '') ?? focused;
  const seen = active.getBoundingClientRect();
  return [...place.children].some((toast) => {
    const { left, top, right, bottom } = toast.getBoundingClientRect();
    return left < seen.right && seen.left < right && top < seen.bottom && seen.top < bottom;
  });
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
