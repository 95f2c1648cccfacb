import { engineOf } from '../engines/engine-of.ts';
import type { Progress } from '../lifecycle/progress.ts';
import { endAlone } from '../state/alone-record.ts';
import { refuseCopy } from '../state/find-original.ts';
import type { Installation } from '../state/installation.ts';
import { acquireLock } from '../state/lock.ts';
import { ensurePrivateFolder } from '../state/private-folder.ts';
import { type Replacement, readReplacement } from './replace/replacement.ts';

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
    const cut = readReplacement(installation);
    if (cut !== null && cut.step !== 'waiting') onProgress({ kind: 'notice', message: interrupted(cut) });
    return { outcome };
  } finally {
    lock.release();
  }
}

function interrupted({ command, startedAt }: Replacement): string {
  return `The ${command} that began at ${startedAt} was cut short. The next start brings back the data before: svc up`;
}
