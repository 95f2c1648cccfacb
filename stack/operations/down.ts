import { engineOf } from '../engines/engine-of.ts';
import type { Progress } from '../lifecycle/progress.ts';
import { refuseCopy } from '../state/find-original.ts';
import type { Installation } from '../state/installation.ts';
import { acquireLock } from '../state/lock.ts';
import { ensurePrivateFolder } from '../state/private-folder.ts';
import { settleMove } from './move/settle-move.ts';

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
    await settleMove(installation, (message) => onProgress({ kind: 'notice', message }));
    return { outcome: await engineOf(installation).down({ installation, onProgress, signal }) };
  } finally {
    lock.release();
  }
}
