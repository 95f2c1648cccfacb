import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Installation } from '../../state/installation.ts';
import type { Daemon } from './daemon.ts';
import type { ImageFacts } from './images.ts';
import { connectToOwnDaemon } from './own-daemon.ts';
import { ensurePlanImages } from './plan-images.ts';

/** A daemon that has every image of some plans. Nodes run there alone while the platform is stopped. */
export interface PreparedDaemon extends Daemon {
  /** By name. */
  readonly images: Readonly<Record<string, ImageFacts>>;
}

export interface DaemonPreparation {
  readonly installation: Installation;
  /** The plans whose images are made available. */
  readonly plans: readonly Plan[];
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Throws what is wrong with the daemon, or which image is unavailable. */
export async function prepareDaemon(preparation: DaemonPreparation): Promise<PreparedDaemon> {
  const { installation, plans, env, signal, onNotice } = preparation;
  const daemon = await connectToOwnDaemon(installation, env);
  const images: Record<string, ImageFacts> = {};
  for (const plan of plans) {
    Object.assign(images, await ensurePlanImages(plan, { docker: daemon.docker, env, signal, onNotice }));
  }
  return { ...daemon, images };
}
