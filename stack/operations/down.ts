import type { Stopping } from '../engines/engine.ts';
import { engineOf } from '../engines/engine-of.ts';
import { refuseCopy } from '../state/find-original.ts';
import { ensurePrivateFolder } from '../state/folder.ts';
import { endAlone } from '../state/left-processes.ts';
import { acquireLock } from '../state/lock.ts';
import { interruptionOf, readReplacement } from './replace/replacement.ts';

/** Stops everything gracefully and keeps all data. The outcome is `unchanged` if nothing was running. */
export async function down(options: Partial<Stopping> & Pick<Stopping, 'installation'>) {
  const { installation, onProgress = () => undefined, signal } = options;
  ensurePrivateFolder(installation.stateDir);
  using _lock = acquireLock(installation, 'command');
  const outcome = await stopEverything({ installation, onProgress, signal });
  const interruption = interruptionOf(readReplacement(installation));
  if (interruption !== null) onProgress({ kind: 'notice', message: interruption });
  return { outcome };
}

/** Called by a command that has the lock. */
export async function stopEverything(stopping: Stopping): Promise<'stopped' | 'unchanged'> {
  const { installation } = stopping;
  refuseCopy(installation);
  await endAlone(installation);
  return engineOf(installation).down(stopping);
}
