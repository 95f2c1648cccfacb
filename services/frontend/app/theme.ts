import { useSyncExternalStore } from 'react';

/** The script in index.html reads the same key before the first paint. */
const storageKey = 'theme';
const dark = window.matchMedia('(prefers-color-scheme: dark)');

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const listeners = new Set<() => void>();

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => chosenTheme(),
  );
}

export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, theme);
  } catch {
    // A browser may forbid storage. The theme then lasts until the page is left.
  }
  applyTheme(theme);
  for (const listener of listeners) listener();
}

/** Follows the system's theme while no other is chosen. */
export function followSystemTheme(): void {
  dark.addEventListener('change', () => applyTheme(chosenTheme()));
}

function applyTheme(theme: Theme): void {
  const isDark = theme === 'dark' || (theme === 'system' && dark.matches);
  document.documentElement.classList.toggle('dark', isDark);
}

function chosenTheme(): Theme {
  try {
    const stored = localStorage.getItem(storageKey);
    return themes.find((theme) => theme === stored) ?? 'system';
  } catch {
    return 'system';
  }
}
