import { checkBus } from '../bus/check-bus.ts';
import { ensureFolders } from '../create-installation.ts';
import type { RunningPlatform } from '../state/find-running.ts';
import type { Plan } from './plan.ts';
import { clearStaleRecord } from './running-platform.ts';

interface MakingReady {
  readonly running: RunningPlatform | null;
  readonly onNotice: (message: string) => void;
}

/**
 * Makes the folders and secrets that a plan needs, repairs modes and clears away what a killed platform left: the first writes of a command.
 * A bus that somebody else runs is checked last, because it must know keys that may be made here.
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
