import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { readContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import type { ManifestEntry } from '../../state/manifest.ts';
import { inspectContainers } from './container-state.ts';
import { connectToDaemon, reconnectToDaemon, tolerate } from './daemon.ts';
import { isServiceImage } from './images.ts';
import { prefixOf } from './names.ts';
import { removeFreeNetworks } from './network.ts';
import { refuseOtherFolder } from './own-daemon.ts';
import { listVolumes, removeVolumes } from './volumes.ts';

interface Removal {
  readonly id: string;
  readonly entries: readonly ManifestEntry[];
  readonly env: EnvRecord;
}

/**
 * Removes what an installation has in Docker, after its platform was stopped. Only things that carry its id, whatever the manifest says.
 * Images of others stay, and so does a service image that another installation uses.
 */
export async function removeFromDocker(installation: Installation, { id, entries, env }: Removal): Promise<void> {
  const socket = readContainers(installation)?.daemon.socket;
  const { docker } = await (socket === undefined ? connectToDaemon(env) : reconnectToDaemon(socket));
  await refuseOtherFolder(docker, installation, id);
  for (const { Id } of (await inspectContainers(docker, id)).values()) {
    await docker.getContainer(Id).remove({ force: true }).catch(tolerate(404));
  }
  const present = await listVolumes(docker, id);
  const volumes = entries.filter(({ kind, path }) => kind === 'volume' && path.startsWith(`${prefixOf({ id })}-`));
  await removeVolumes(
    docker,
    id,
    volumes.map(({ path }) => path).filter((name) => present.has(name)),
  );
  await removeFreeNetworks(docker, id);
  for (const { kind, path } of entries) {
    // 409: a container of another installation uses it.
    if (kind === 'image' && isServiceImage(path)) await docker.getImage(path).remove().catch(tolerate(404, 409));
  }
}
