import { statSync } from 'node:fs';
import type { Installation } from '../state/installation.ts';
import { lockFileOf } from '../state/lock.ts';

export interface FolderPatience {
  readonly lookMs: number;
  /** A disk that is away for a moment is no reason to end. */
  readonly goneMaxMs: number;
}

/** Calls `onGone` once data/ was missing or replaced for this long: no command finds such a platform. */
export function watchData(installation: Installation, patience: FolderPatience, onGone: () => void): () => void {
  const path = lockFileOf(installation, 'platform');
  const own = numbersOf(path);
  let goneSince: number | null = null;
  const timer = setInterval(() => {
    const isThere = numbersOf(path) === own;
    goneSince = isThere ? null : (goneSince ?? performance.now());
    if (goneSince === null || performance.now() - goneSince < patience.goneMaxMs) return;
    clearInterval(timer);
    onGone();
  }, patience.lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Null when it cannot be read. */
function numbersOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
