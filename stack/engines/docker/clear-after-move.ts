import { wordsOf } from '../../../services/contracts/docker.ts';
import type { Installation } from '../../state/installation.ts';
import { reconnectToDaemon } from './daemon.ts';
import { endContainersAlone } from './run-alone.ts';
import { listVolumes, removeVolumes } from './volumes.ts';

export interface AfterMove {
  readonly socket: string;
  readonly id: string;
  readonly onNotice: (message: string) => void;
}

/** Removes the containers of an interrupted move. */
export async function endLeftContainers(
  installation: Installation,
  { socket, id, onNotice }: AfterMove,
): Promise<void> {
  await tellingWhyNot(onNotice, `Containers of a move may still run in the Docker at "${socket}"`, async () => {
    const { docker } = await reconnectToDaemon(socket);
    await endContainersAlone(docker, installation, id);
  });
}

/** Removes the volumes of an installation that are not wanted, with their data. */
export async function removeVolumesBut(
  isWanted: (volume: string) => boolean,
  { socket, id, onNotice }: AfterMove,
): Promise<void> {
  const stays = `Volumes of this platform are still in the Docker at "${socket}" (docker volume ls --filter label=svc.installation=${id})`;
  await tellingWhyNot(onNotice, stays, async () => {
    const { docker } = await reconnectToDaemon(socket);
    const there = await listVolumes(docker, id);
    const volumes = [...there].filter((volume) => !isWanted(volume));
    if (volumes.length > 0) await removeVolumes({ docker, volumes, installationId: id });
  });
}

/** An unreachable Docker must not block the command. */
async function tellingWhyNot(
  onNotice: (message: string) => void,
  stays: string,
  work: () => Promise<void>,
): Promise<void> {
  await work().catch((error: unknown) => {
    onNotice(`${stays}: ${wordsOf(error)}.`);
  });
}
