import type { Inspection } from '../engines/engine.ts';
import { engineOf } from '../engines/engine-of.ts';
import { readPlan } from '../engines/plan-of.ts';
import type { Status } from '../lifecycle/platform-status.ts';

/** What runs now. Never changes anything; a platform that is not running is an answer, not an error. */
export async function status({ installation, signal }: Omit<Inspection, 'readPlan'>): Promise<Status> {
  return engineOf(installation).inspect({ installation, readPlan: () => readPlan(installation), signal });
}
