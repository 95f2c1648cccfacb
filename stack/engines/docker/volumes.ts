import type Docker from 'dockerode';
import type { SvcError } from '../../../services/contracts/errors.ts';
import { diskFullError } from '../../state/free-space.ts';
import { inspectContainer, runInside } from './container-state.ts';
import { tolerate } from './daemon.ts';
import { containerNameOf, labels } from './names.ts';
import { dataDir } from './site.ts';
import { confined, removeNow } from './task.ts';

export async function listVolumes(docker: Docker, installationId: string): Promise<ReadonlySet<string>> {
  return new Set((await inspectVolumes(docker, installationId)).map(({ Name }) => Name));
}

export async function inspectVolumes(docker: Docker, installationId: string) {
  const { Volumes } = await docker.listVolumes({ filters: { label: [`${labels.installation}=${installationId}`] } });
  // Older versions answer null instead of an empty list.
  return Volumes ?? [];
}

export async function removeVolumes(docker: Docker, installationId: string, names: readonly string[]): Promise<void> {
  await releaseVolumes(docker, installationId);
  for (const name of names) await docker.getVolume(name).remove().catch(tolerate(404));
}

/** A container that never runs mounts all volumes, because `docker volume prune --all` removes unused ones. */
export async function holdVolumes(docker: Docker, installationId: string, image: string): Promise<void> {
  const volumes = [...(await listVolumes(docker, installationId))];
  if (volumes.length === 0) return;
  await releaseVolumes(docker, installationId);
  await docker.createContainer({
    name: holderOf(installationId),
    Image: image,
    Entrypoint: ['true'],
    Labels: { [labels.holds]: installationId },
    HostConfig: {
      ...confined,
      NetworkMode: 'none',
      Binds: volumes.map((name) => `${name}:/volumes/${name}:nocopy`),
    },
  });
}

export function releaseVolumes(docker: Docker, installationId: string): Promise<void> {
  return removeNow(docker, holderOf(installationId));
}

export function holderOf(id: string): string {
  return containerNameOf('volumes', { id });
}

/** The error for the first full volume, or null. Docker shows free space only to a container that uses the volume. */
export async function findFullVolume(docker: Docker, containers: readonly string[]): Promise<SvcError | null> {
  const looks = await Promise.all(containers.map((name) => lookInto(name, docker)));
  return looks.find((full) => full !== null) ?? null;
}

/** POSIX df, "STDOUT": used and available blocks of 1024 bytes, and the mount point. */
const blocksLeft = /\s(\d+)\s+\d+%\s+\S+$/m;

async function lookInto(container: string, docker: Docker): Promise<SvcError | null> {
  const found = await inspectContainer(docker, container);
  const volume = found?.Mounts.find(({ Destination }) => Destination === dataDir)?.Name;
  if (volume === undefined || !found?.State.Running) return null;
  // The container may end meanwhile.
  const { said } = await runInside(docker, container, ['df', '-Pk', dataDir]).catch(() => ({ said: '' }));
  const [, blocks] = blocksLeft.exec(said) ?? [];
  if (blocks === undefined) return null;
  const repair = 'docker system df tells what takes it.';
  return diskFullError({ place: `the volume "${volume}"`, repair, freeBytes: Number(blocks) * 1024 });
}
