import { engineOf } from '../engines/engine-of.ts';
import { readPlan } from '../engines/plan-of.ts';
import type { Status } from '../lifecycle/platform-status.ts';
import type { Installation } from '../state/installation.ts';

export interface StatusOptions {
  readonly installation: Installation;
  readonly signal?: AbortSignal | undefined;
}

/** What runs now. Never changes anything; a platform that is not running is an answer, not an error. */
export async function status({ installation, signal }: StatusOptions): Promise<Status> {
  return engineOf(installation).inspect({ installation, readPlan: () => readPlan(installation), signal });
}
