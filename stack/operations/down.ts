import { engineOf } from '../engines/engine-of.ts';
import type { Progress } from '../lifecycle/progress.ts';
import { refuseCopy } from '../state/find-original.ts';
import { ensurePrivateFolder } from '../state/folder.ts';
import type { Installation } from '../state/installation.ts';
import { endAlone } from '../state/left-processes.ts';
import { acquireLock } from '../state/lock.ts';
import { interruptionOf, readReplacement } from './replace/replacement.ts';

export interface DownOptions {
  readonly installation: Installation;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface DownResult {
  /** `unchanged`: nothing was running. */
  readonly outcome: 'stopped' | 'unchanged';
}

/** Stops everything gracefully and keeps all data. */
export async function down({ installation, onProgress = () => undefined, signal }: DownOptions): Promise<DownResult> {
  ensurePrivateFolder(installation.stateDir);
  const lock = acquireLock(installation, 'command');
  try {
    refuseCopy(installation);
    await endAlone(installation);
    const outcome = await engineOf(installation).down({ installation, onProgress, signal });
    const interruption = interruptionOf(readReplacement(installation));
    if (interruption !== null) onProgress({ kind: 'notice', message: interruption });
    return { outcome };
  } finally {
    lock.release();
  }
}
