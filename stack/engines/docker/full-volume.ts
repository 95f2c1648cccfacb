import type Docker from 'dockerode';
import type { SvcError } from '../../../services/contracts/errors.ts';
import { fullWith } from '../../state/free-space.ts';
import { inspectContainer, runInside } from './container-state.ts';
import { dataDir } from './site.ts';

/**
 * The error for the first full volume of these containers; null where there is room or no container answers. Docker shows the free space of
 * a volume only to a container that uses it.
 */
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
  return fullWith(Number(blocks) * 1024, { place: `the volume "${volume}"`, repair });
}
