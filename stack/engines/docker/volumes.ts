import type Docker from 'dockerode';
import { SvcError } from '../../../services/contracts/errors.ts';
import { containerNameOf, labels } from './names.ts';
import { tolerate } from './remove-container.ts';
import { confined, runTask } from './task.ts';

export interface Volumes {
  readonly docker: Docker;
  /** Names of volumes. */
  readonly volumes: readonly string[];
  readonly installationId: string;
}

export interface NewVolumes extends Volumes {
  readonly folder: string;
}

export interface HandOver extends Volumes {
  /** The user of the containers, as `uid:gid`. */
  readonly user: string;
  readonly image: string;
  readonly signal: AbortSignal;
}

/** Makes missing volumes. */
export async function ensureVolumes({ docker, volumes, installationId, folder }: NewVolumes): Promise<void> {
  const Labels = { [labels.installation]: installationId, [labels.folder]: folder };
  for (const Name of volumes) await docker.createVolume({ Name, Labels });
}

/** The names of the volumes that exist. */
export async function listVolumes(docker: Docker, installationId: string): Promise<ReadonlySet<string>> {
  return new Set((await inspectVolumes(docker, installationId)).map(({ Name }) => Name));
}

/** The volumes that exist, with their labels. */
export async function inspectVolumes(docker: Docker, installationId: string) {
  const { Volumes } = await docker.listVolumes({ filters: { label: [`${labels.installation}=${installationId}`] } });
  // Older versions answer null instead of an empty list.
  return Volumes ?? [];
}

/** Removes volumes with their data. */
export async function removeVolumes({ docker, volumes: names, installationId }: Volumes): Promise<void> {
  await releaseVolumes(docker, installationId);
  for (const name of names) {
    await docker
      .getVolume(name)
      .remove()
      .catch((error: unknown) => tolerate(error, [404]));
  }
}

/**
 * Makes a container that never runs and mounts all volumes of a stopped platform. `docker volume prune --all` removes volumes without a
 * container.
 */
export async function holdVolumes({ docker, volumes, installationId, image }: Volumes & { readonly image: string }) {
  await releaseVolumes(docker, installationId);
  await docker.createContainer({
    name: holderOf(installationId),
    Image: image,
    Entrypoint: ['true'],
    Labels: { [labels.holds]: installationId },
    HostConfig: {
      ...confined,
      NetworkMode: 'none',
      Mounts: volumes.map((Source) => ({ Type: 'volume' as const, Source, Target: `/volumes/${Source}` })),
    },
  });
}

export async function releaseVolumes(docker: Docker, installationId: string): Promise<void> {
  await docker
    .getContainer(holderOf(installationId))
    .remove({ force: true })
    .catch((error: unknown) => tolerate(error, [404]));
}

/** The name of the container that holds the volumes of a stopped platform. */
export function holderOf(id: string): string {
  return containerNameOf('volumes', { id });
}

/** chown visits each file once. An old platform has some gigabytes of files. */
const handOverTimeoutMs = 120_000;

/**
 * Gives volumes to the user of the containers, because Docker makes them for root. A short-lived container without a network runs chown.
 */
export async function handOverVolumes({
  docker,
  volumes,
  installationId,
  user,
  image,
  signal,
}: HandOver): Promise<void> {
  const options = {
    name: containerNameOf('hand-over', { id: installationId }),
    Image: image,
    User: '0:0',
    Entrypoint: ['chown', '-R', user],
    Cmd: volumes.map((volume) => `/volumes/${volume}`),
    Labels: { [labels.installation]: installationId, [labels.alone]: 'true' },
    HostConfig: {
      ...confined,
      NetworkMode: 'none',
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'],
      Mounts: volumes.map((Source) => ({ Type: 'volume' as const, Source, Target: `/volumes/${Source}` })),
    },
  };
  try {
    await runTask(docker, { options, timeoutMs: handOverTimeoutMs, signal });
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'cancelled') throw error;
    throw new SvcError(error.code, `The volumes could not be given to ${user}: ${error.message}`, {
      cause: error,
    });
  }
}
