import { checkBus } from '../bus/check-bus.ts';
import type { Plan } from '../plan/plan.ts';
import { ensureFolders } from '../secrets/ensure-folders.ts';

/**
 * Makes missing folders and secrets and repairs modes: the first writes of a command. Checks an external bus last,
 * because that bus must accept keys that this function may make.
 */
export async function makeReady(plan: Plan, onNotice: (message: string) => void): Promise<void> {
  const { installation, definition } = plan;
  for (const { path, outcome, detail } of ensureFolders(installation, definition)) {
    if (outcome === 'created') onNotice(`${path} was missing and was created.`);
    if (outcome === 'repaired') onNotice(`${path} was repaired: ${detail}.`);
  }
  await checkBus(plan);
}
