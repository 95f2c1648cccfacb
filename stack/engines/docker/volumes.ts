import type Docker from 'dockerode';
import { statusOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { withoutFrames } from './container-log.ts';
import { type DockerPlan, labels } from './container-plan.ts';

export interface Volumes {
  readonly docker: Docker;
  readonly plan: DockerPlan;
  readonly installationId: string;
  /** `uid:gid` that everything runs as. */
  readonly user: string;
  readonly image: string;
}

/** Makes the volumes that are missing. */
export async function ensureVolumes({ docker, plan, installationId }: Volumes): Promise<void> {
  for (const Name of plan.volumes)
    await docker.createVolume({ Name, Labels: { [labels.installation]: installationId } });
}

/**
 * Gives what is in the volumes to the user that everything runs as: Docker makes them for root. A container does that which has nothing else,
 * no network, and ends at once.
 */
export async function handOverVolumes({ docker, plan, installationId, user, image }: Volumes): Promise<void> {
  const name = `${plan.network}-hand-over`;
  const targets = plan.volumes.map((volume) => `/volumes/${volume}`);
  const left = docker.getContainer(name);
  await left.remove({ force: true }).catch(() => undefined);
  const container = await docker.createContainer({
    name,
    Image: image,
    User: '0:0',
    Entrypoint: ['chown', '-R', user],
    Cmd: targets,
    Labels: { [labels.installation]: installationId },
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'],
      SecurityOpt: ['no-new-privileges'],
      Mounts: plan.volumes.map((Source) => ({ Type: 'volume' as const, Source, Target: `/volumes/${Source}` })),
    },
  });
  try {
    await container.start();
    const { StatusCode } = await container.wait();
    if (StatusCode !== 0) {
      const said = withoutFrames(await container.logs({ stdout: true, stderr: true, follow: false }));
      throw new SvcError(
        'unavailable',
        `The volumes could not be handed over to ${user}: ${said.trim().slice(0, 300)}`,
      );
    }
  } finally {
    await container.remove({ force: true }).catch((error: unknown) => {
      if (statusOf(error) !== 404) throw error;
    });
  }
}
