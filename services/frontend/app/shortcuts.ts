import { useLayoutEffect, useRef } from 'react';

/** A second key counts within this time. */
const sequenceMs = 1200;

export type Shortcuts = Readonly<Record<string, () => void>>;

/** Those of everything on the screen, the innermost last. */
const registered: { readonly current: Shortcuts }[] = [];
let first: { readonly key: string; readonly at: number } | null = null;

/** Keys such as `?`, `g m` or `mod+k` (⌘ or Ctrl). They are silent while a person types, or a dialog or menu is open. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // Before the paint, so that a key works as soon as its place is visible.
  useLayoutEffect(() => {
    if (registered.push(latest) === 1) document.addEventListener('keydown', onKeyDown);
    return () => {
      registered.splice(registered.indexOf(latest), 1);
      if (registered.length === 0) document.removeEventListener('keydown', onKeyDown);
    };
  }, []);
}

/** One listener for all: the second key of `g c` is no `c`. */
function onKeyDown(event: KeyboardEvent): void {
  const isMod = event.metaKey || event.ctrlKey;
  if (!isMod && (isTyping(event.target) || document.querySelector('dialog[open], [role="menu"]') !== null)) return;
  if (event.altKey || event.repeat) return;
  const key = isMod ? `mod+${event.key.toLowerCase()}` : event.key;
  const sequence = first !== null && event.timeStamp - first.at < sequenceMs ? `${first.key} ${key}` : null;
  first = { key, at: event.timeStamp };
  const action = (sequence === null ? undefined : actionOf(sequence)) ?? actionOf(key);
  if (action === undefined) return;
  event.preventDefault();
  first = null;
  action();
}

function actionOf(key: string): (() => void) | undefined {
  return registered.findLast(({ current }) => current[key] !== undefined)?.current[key];
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);
}
