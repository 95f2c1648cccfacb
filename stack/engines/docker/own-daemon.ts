import { statSync } from 'node:fs';
import type Docker from 'dockerode';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { readDefinition } from '../../settings/check.ts';
import { readContainers } from '../../state/containers-record.ts';
import { copyOf, isOtherPlaceOf } from '../../state/find-original.ts';
import type { Installation } from '../../state/installation.ts';
import { inspectContainers } from './container-state.ts';
import { connectToDaemon, type Daemon, type OwnDaemon } from './daemon.ts';
import type { Owner } from './given-files.ts';
import { labels } from './names.ts';
import { inspectVolumes } from './volumes.ts';

/** Connects to the daemon of an installation. Refuses another daemon, and containers and volumes that belong to another folder. */
export async function connectToOwnDaemon(installation: Installation, env: EnvRecord): Promise<OwnDaemon> {
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
  return { ...daemon, ...usersOf(installation, daemon) };
}

/** The user of the containers where root owns the installation. Few machines have a user with this number. */
const ofRoot: Owner = { uid: 10_001, gid: 10_001 };

/**
 * Containers run as the owner of the installation, but never as root. In a rootless Docker, root of a container is that owner outside, and
 * other users cannot read the files. The container drops root's capabilities there too.
 */
function usersOf({ dir }: Installation, { isRootless }: Daemon) {
  const { uid, gid } = statSync(dir);
  if (isRootless) return { user: '0:0', fileOwner: { uid, gid }, installer: '0:0' };
  const fileOwner = uid === 0 ? ofRoot : { uid, gid };
  return { user: `${fileOwner.uid}:${fileOwner.gid}`, fileOwner, installer: `${uid}:${gid}` };
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
