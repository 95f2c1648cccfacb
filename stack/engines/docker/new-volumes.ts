import { recordCreated } from '../../state/manifest.ts';
import type { VolumeTask } from './copy-volume.ts';
import { serviceImageOn } from './service-image.ts';
import { runsAs } from './user.ts';
import { volumesOf } from './volume-of.ts';
import { ensureVolumes, handOverVolumes, listVolumes } from './volumes.ts';

/** Makes the missing volumes of a plan, for the user of its containers. */
export async function makeNewVolumes({ plan, daemon, signal }: VolumeTask): Promise<void> {
  const { installation, definition } = plan;
  const { docker, isRootless } = daemon;
  const there = await listVolumes(docker, definition.id);
  const volumes = volumesOf(plan).filter((name) => !there.has(name));
  if (volumes.length === 0) return;
  recordCreated(
    installation,
    volumes.map((path) => ({ kind: 'volume', path })),
  );
  const { user } = runsAs(installation, isRootless);
  const image = serviceImageOn(definition.images.base).name;
  const own = { docker, volumes, installationId: definition.id };
  await ensureVolumes({ ...own, folder: installation.dir });
  await handOverVolumes({ ...own, user, image, signal });
}
