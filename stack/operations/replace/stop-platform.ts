import { engineOf, isUp } from '../../engines/engine-of.ts';
import type { Progress } from '../../lifecycle/progress.ts';
import type { Installation } from '../../state/installation.ts';

/** Stops a platform that runs. An interruption does not keep it from stopping: it could not be started again before. */
export async function stopPlatform(
  installation: Installation,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  if (!isUp(installation)) return;
  await engineOf(installation).down({ installation, onProgress });
}
