import { engineOf } from '../engines/engine-of.ts';
import type { Status } from '../lifecycle/platform-status.ts';
import type { Installation } from '../state/installation.ts';

export interface StatusOptions {
  readonly installation: Installation;
  readonly signal?: AbortSignal | undefined;
}

/** What runs now. Never changes anything; a platform that is not running is an answer, not an error. */
export async function status({ installation, signal }: StatusOptions): Promise<Status> {
  const engine = await engineOf(installation);
  return engine.status(installation, signal);
}
