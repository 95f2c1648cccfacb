import { isInContainers } from '../engines/docker/containers-record.ts';
import { downContainers } from '../engines/docker/down.ts';
import type { Installation } from '../installation.ts';
import type { Progress } from '../lifecycle/progress.ts';
import { stopRunning } from '../lifecycle/running-platform.ts';
import { findRunning } from '../state/find-running.ts';

/** Whether the platform of an installation runs, be it in containers. */
export function isUp(installation: Installation): boolean {
  return isInContainers(installation) || findRunning(installation) !== null;
}

/** Stops it, where it runs. Told to stop, it does, whatever is heard meanwhile: only then it can be started again. */
export async function stopPlatform(
  installation: Installation,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  if (isInContainers(installation)) {
    await downContainers(installation, (name, state) => onProgress({ kind: 'service', name, state }));
  }
  const running = findRunning(installation);
  if (running !== null) await stopRunning(installation, running, { onNotice });
}
