import type Docker from 'dockerode';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { readDefinition } from '../../settings/check.ts';
import { readContainers } from '../../state/containers-record.ts';
import { copyOf, isOtherPlaceOf } from '../../state/find-original.ts';
import type { Installation } from '../../state/installation.ts';
import { inspectContainers } from './container-state.ts';
import { connectToDaemon, type Daemon } from './daemon.ts';
import { labels } from './names.ts';
import { inspectVolumes } from './volumes.ts';

/** Connects to the daemon of an installation. Refuses another daemon, and containers and volumes that belong to another folder. */
export async function connectToOwnDaemon(installation: Installation, env: EnvRecord): Promise<Daemon> {
  const daemon = await connectToDaemon(env);
  const { id = daemon.id, socket } = readContainers(installation)?.daemon ?? {};
  if (id !== daemon.id) {
    throw new SvcError(
      'conflict',
      `The containers and data of this platform are in the Docker at "${socket}", not in the one at "${daemon.socket}".`,
      { hint: `Use that one: DOCKER_HOST=unix://${socket}` },
    );
  }
  await refuseOtherFolder(daemon.docker, installation, readDefinition(installation.definitionFile).id);
  return daemon;
}

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
