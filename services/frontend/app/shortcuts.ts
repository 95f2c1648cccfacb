import { useLayoutEffect, useRef } from 'react';

/** A second key counts within this time. */
const sequenceMs = 1200;

export type Shortcuts = Readonly<Record<string, () => void>>;

/** Keys such as `?`, `g m` or `mod+k` (⌘ or Ctrl). They are silent while a person types or a dialog is open. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // Before the paint, so that a key works as soon as its place is visible.
  useLayoutEffect(() => {
    let first: { key: string; at: number } | null = null;
    const onKeyDown = (event: KeyboardEvent) => {
      const isMod = event.metaKey || event.ctrlKey;
      if (!isMod && (isTyping(event.target) || document.querySelector('dialog[open]') !== null)) return;
      if (event.altKey || event.repeat) return;
      const key = isMod ? `mod+${event.key.toLowerCase()}` : event.key;
      const sequence = first !== null && event.timeStamp - first.at < sequenceMs ? `${first.key} ${key}` : null;
      first = { key, at: event.timeStamp };
      const action = (sequence === null ? undefined : latest.current[sequence]) ?? latest.current[key];
      if (action === undefined) return;
      event.preventDefault();
      first = null;
      action();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable);
}
