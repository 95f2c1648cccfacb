import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { Plan } from '../../plan/plan.ts';
import { readDefinition } from '../../settings/check.ts';
import { readContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { connectToDaemon, type Daemon } from './daemon.ts';
import type { ImageFacts } from './images.ts';
import { ensurePlanImages } from './plan-images.ts';
import { refuseOtherDaemon } from './refuse-other-daemon.ts';
import { refuseOtherFolder } from './refuse-other-folder.ts';

/** A Docker with all that plans are run as, for what runs there while a platform does not. */
export interface Dock {
  readonly daemon: Daemon;
  /** By name. */
  readonly images: Readonly<Record<string, ImageFacts>>;
}

export interface Docking {
  readonly installation: Installation;
  /** Those whose images shall be there. */
  readonly plans: readonly Plan[];
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Throws what is wrong with that Docker, or which image can't be had. */
export async function openDock({ installation, plans, env, signal, onNotice }: Docking): Promise<Dock> {
  const daemon = await connectToDaemon(env);
  refuseOtherDaemon(readContainers(installation), daemon);
  await refuseOtherFolder(daemon.docker, installation, readDefinition(installation.definitionFile).id);
  const asking = { docker: daemon.docker, signal, onNotice };
  const images: Record<string, ImageFacts> = {};
  for (const plan of plans) Object.assign(images, await ensurePlanImages(plan, asking));
  return { daemon, images };
}
