import { checkBus } from '../bus/check-bus.ts';
import { ensureFolders } from '../create-installation.ts';
import { clearStaleRecord } from '../engines/process/running-platform.ts';
import type { Plan } from '../plan/plan.ts';
import type { RunningPlatform } from '../state/find-running.ts';

interface MakingReady {
  readonly running: RunningPlatform | null;
  readonly onNotice: (message: string) => void;
}

/**
 * Makes missing folders and secrets, repairs modes and removes the stale record of a killed platform: the first writes of a command.
 * Checks an external bus last, because that bus must accept keys that this function may make.
 */
export async function makeReady(plan: Plan, { running, onNotice }: MakingReady): Promise<void> {
  const { installation, definition } = plan;
  for (const { path, outcome, detail } of ensureFolders(installation, definition)) {
    if (outcome === 'created') onNotice(`${path} was missing and was made.`);
    if (outcome === 'repaired') onNotice(`${path} was repaired: ${detail}.`);
  }
  const cleared = running === null ? await clearStaleRecord(installation) : null;
  if (cleared !== null) onNotice(cleared);
  await checkBus(plan);
}
