import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { readDefinition } from '../../settings/check.ts';
import { type ContainersRecord, readContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { connectToDaemon, type Daemon } from './daemon.ts';
import { refuseOtherFolder } from './refuse-other-folder.ts';

/** Connects to the daemon of an installation. Refuses another daemon, and containers and volumes that belong to another folder. */
export async function connectToOwnDaemon(installation: Installation, env: EnvRecord): Promise<Daemon> {
  const daemon = await connectToDaemon(env);
  refuseOtherDaemon(readContainers(installation), daemon);
  await refuseOtherFolder(daemon.docker, installation, readDefinition(installation.definitionFile).id);
  return daemon;
}

/** Another daemon has none of the data of this platform. */
function refuseOtherDaemon(before: ContainersRecord | null, { id, socket }: Daemon): void {
  if (before === null || before.daemon.id === id) return;
  throw new SvcError(
    'conflict',
    `The containers and data of this platform are in the Docker at "${before.daemon.socket}", not in the one at "${socket}".`,
    {
      hint: `Use that one: DOCKER_HOST=unix://${before.daemon.socket}`,
    },
  );
}
