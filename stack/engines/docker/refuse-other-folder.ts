import type Docker from 'dockerode';
import { copyOf, isOtherPlaceOf } from '../../state/find-original.ts';
import type { Installation } from '../../state/installation.ts';
import { inspectContainers } from './container-state.ts';
import { labels } from './names.ts';
import { inspectVolumes } from './volumes.ts';

/** Throws where a container or volume of this id is labelled with another folder, which still holds an installation of this id. */
export async function refuseOtherFolder(docker: Docker, installation: Installation, id: string): Promise<void> {
  const [containers, volumes] = await Promise.all([inspectContainers(docker, id), inspectVolumes(docker, id)]);
  for (const { Labels } of [...[...containers.values()].map(({ Config }) => Config), ...volumes]) {
    const folder = Labels?.[labels.folder];
    if (folder !== undefined && isOtherPlaceOf(id, folder, installation)) {
      throw copyOf({ dir: folder, pid: null }, installation);
    }
  }
}
